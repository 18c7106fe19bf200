#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace protocom {

/// Allocates memory aligned to cache lines. The widest vectors are as long as a line; at any other address each would
/// span two.
template <typename T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <typename U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT(google-explicit-constructor): containers convert

  [[nodiscard]] T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* values, size_t) { ::operator delete(values, kLine); }
};

template <typename T, typename U>
bool operator==(const LineAllocator<T>&, const LineAllocator<U>&) {
  return true;
}
template <typename T, typename U>
bool operator!=(const LineAllocator<T>&, const LineAllocator<U>&) {
  return false;
}

/// Rows for the inner loops of row_kernels.h.
using Floats = std::vector<float, LineAllocator<float>>;

}  // namespace protocom
