#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace protocom {

/// The type of an Array's numbers.
enum class NumberType { kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64 };

/// Returns "Float", "Long", ...: the names in files and messages.
std::string_view to_string(NumberType type);
/// Returns the size of one number in bytes.
int64_t size_of(NumberType type);
/// Whether the type has fractions.
bool is_real(NumberType type);

/// Maps a C++ type to its NumberType; base/matrix.h has the entries for Eigen::half and Eigen::bfloat16.
template <typename T>
struct NumberTypeOf;
// clang-format off
template <> struct NumberTypeOf<bool> { static constexpr NumberType kType = NumberType::kBool; };
template <> struct NumberTypeOf<uint8_t> { static constexpr NumberType kType = NumberType::kUInt8; };
template <> struct NumberTypeOf<int8_t> { static constexpr NumberType kType = NumberType::kInt8; };
template <> struct NumberTypeOf<int16_t> { static constexpr NumberType kType = NumberType::kInt16; };
template <> struct NumberTypeOf<int32_t> { static constexpr NumberType kType = NumberType::kInt32; };
template <> struct NumberTypeOf<int64_t> { static constexpr NumberType kType = NumberType::kInt64; };
template <> struct NumberTypeOf<float> { static constexpr NumberType kType = NumberType::kFloat32; };
template <> struct NumberTypeOf<double> { static constexpr NumberType kType = NumberType::kFloat64; };
// clang-format on

using Shape = std::vector<int64_t>;

/// Numbers of one type in row-major order, with a shape; a shape without dimensions is that of a single number. Copies
/// and views share the values. A wrong index, range, shape or type is a programming error and fails an assertion: code
/// that reads files checks them first.
class Array {
 public:
  /// Makes an undefined array: without numbers, type or shape.
  Array() = default;
  /// Makes an array of zeros. Throws std::bad_alloc, as `uninitialised`.
  static Array zeros(Shape shape, NumberType type = NumberType::kFloat32);
  static Array uninitialised(Shape shape, NumberType type = NumberType::kFloat32);
  /// Makes an array of the numbers at `data`, which `owner` keeps alive. Callers must not write to read-only memory.
  static Array view(void* data, Shape shape, NumberType type, std::shared_ptr<const void> owner);
  /// Copies values; the shape is [n] by default.
  template <typename T>
  static Array of(const std::vector<T>& values, const Shape& shape);
  template <typename T>
  static Array of(const std::vector<T>& values) {
    return of(values, {static_cast<int64_t>(values.size())});
  }

  [[nodiscard]] bool defined() const { return owner_ != nullptr; }
  [[nodiscard]] NumberType type() const { return type_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int64_t dim() const { return static_cast<int64_t>(shape_.size()); }
  [[nodiscard]] int64_t size(int64_t dimension) const;
  [[nodiscard]] int64_t numel() const { return count_; }
  [[nodiscard]] size_t bytes() const { return static_cast<size_t>(count_ * size_of(type_)); }

  /// The values, in their own type.
  template <typename T>
  [[nodiscard]] const T* data() const;
  /// The values for writing: all copies and views change too.
  template <typename T>
  [[nodiscard]] T* mutable_data();
  /// The bytes of the values.
  [[nodiscard]] const void* raw() const { return data_; }
  [[nodiscard]] void* mutable_raw() { return data_; }

  /// Returns the view [end - begin, ...] of some rows of [n, ...].
  [[nodiscard]] Array rows(int64_t begin, int64_t end) const;
  /// Returns the view [...] of one row of [n, ...].
  [[nodiscard]] Array row(int64_t index) const;
  /// Returns the same values in another shape of the same size.
  [[nodiscard]] Array reshaped(Shape shape) const;

  /// Converts to `type`; returns itself if it has that type. Floating-point numbers become whole numbers by truncation
  /// and saturate at the limits of the type; as bool, all but 0 is true. Throws Error if NaN would become a whole
  /// number.
  [[nodiscard]] Array to(NumberType type) const;
  /// Returns a copy of these rows of [n, ...], in this order.
  [[nodiscard]] Array gathered(const std::vector<int64_t>& indices) const;
  /// Concatenates arrays [n_i, ...] of one type along the first dimension into a copy [sum of n_i, ...]; at least one.
  static Array joined(const std::vector<Array>& parts);
  [[nodiscard]] Array copy() const;

 private:
  Array(void* data, Shape shape, NumberType type, std::shared_ptr<const void> owner);
  [[nodiscard]] char* place(int64_t row) const;

  std::shared_ptr<const void> owner_;
  void* data_ = nullptr;
  NumberType type_ = NumberType::kFloat32;
  Shape shape_;
  int64_t count_ = 0;
};

template <typename T>
const T* Array::data() const {
  PROTOCOM_CHECK(defined() && type_ == NumberTypeOf<T>::kType);
  return static_cast<const T*>(data_);
}

template <typename T>
T* Array::mutable_data() {
  PROTOCOM_CHECK(defined() && type_ == NumberTypeOf<T>::kType);
  return static_cast<T*>(data_);
}

template <typename T>
Array Array::of(const std::vector<T>& values, const Shape& shape) {
  Array array = uninitialised(shape, NumberTypeOf<T>::kType);
  PROTOCOM_CHECK(array.numel() == static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) array.mutable_data<T>()[i] = values[i];
  return array;
}

}  // namespace protocom
