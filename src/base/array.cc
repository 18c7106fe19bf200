#include "base/array.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/matrix.h"
#include "base/parallel.h"
#include "base/to_whole.h"

namespace protocom {
namespace {

struct TypeFacts {
  std::string_view name;
  int64_t size;
  bool real;
};

const TypeFacts& type_facts(NumberType type) {
  static constexpr std::array<TypeFacts, 10> kFacts = {{{"Bool", 1, false},
                                                        {"Byte", 1, false},
                                                        {"Char", 1, false},
                                                        {"Short", 2, false},
                                                        {"Int", 4, false},
                                                        {"Long", 8, false},
                                                        {"Half", 2, true},
                                                        {"BFloat16", 2, true},
                                                        {"Float", 4, true},
                                                        {"Double", 8, true}}};
  return kFacts.at(static_cast<size_t>(type));
}

int64_t count_of(const Shape& shape, NumberType type) {
  int64_t count = 1, bytes = 0;
  bool overflows = false;
  for (const int64_t size : shape) {
    PROTOCOM_CHECK(size >= 0);
    overflows |= __builtin_mul_overflow(count, size, &count);
  }
  if (overflows || __builtin_mul_overflow(count, size_of(type), &bytes)) throw std::length_error("an array");
  return count;
}

/// Alignment at which rows are read fastest on any processor.
constexpr std::align_val_t kAlignment{64};

std::shared_ptr<void> allocated(size_t bytes) {
  return {::operator new(bytes, kAlignment), [](void* memory) { ::operator delete(memory, kAlignment); }};
}

template <typename T>
struct Tag {
  using Type = T;
};

/// Calls f(Tag<T>()) with the C++ type of the numbers.
template <typename F>
auto with_type(NumberType type, const F& f) {
  switch (type) {
    case NumberType::kBool:
      return f(Tag<bool>());
    case NumberType::kUInt8:
      return f(Tag<uint8_t>());
    case NumberType::kInt8:
      return f(Tag<int8_t>());
    case NumberType::kInt16:
      return f(Tag<int16_t>());
    case NumberType::kInt32:
      return f(Tag<int32_t>());
    case NumberType::kInt64:
      return f(Tag<int64_t>());
    case NumberType::kFloat16:
      return f(Tag<Eigen::half>());
    case NumberType::kBFloat16:
      return f(Tag<Eigen::bfloat16>());
    case NumberType::kFloat32:
      return f(Tag<float>());
    default:
      return f(Tag<double>());
  }
}

template <typename T>
constexpr bool kIsShort = std::is_same_v<T, Eigen::half> || std::is_same_v<T, Eigen::bfloat16>;

template <typename To, typename From>
To converted_number(From from) {
  if constexpr (kIsShort<From>)
    return converted_number<To>(static_cast<float>(from));
  else if constexpr (kIsShort<To>)
    return static_cast<To>(static_cast<float>(from));
  else if constexpr (std::is_same_v<To, bool>)
    return from != From(0);
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)
    return to_whole<To>(static_cast<double>(from));
  else
    return static_cast<To>(from);
}

void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

constexpr int64_t kGrain = 1 << 15;  // numbers that justify a thread

template <typename To, typename From>
void convert(const From* from, To* to, int64_t count) {
  parallel_for(0, count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = converted_number<To>(from[i]);
  });
}

}  // namespace

std::string_view to_string(NumberType type) { return type_facts(type).name; }
int64_t size_of(NumberType type) { return type_facts(type).size; }
bool is_real(NumberType type) { return type_facts(type).real; }

Array::Array(void* data, Shape shape, NumberType type, std::shared_ptr<const void> owner)
    : owner_(std::move(owner)), data_(data), type_(type), shape_(std::move(shape)), count_(count_of(shape_, type)) {}

Array Array::uninitialised(Shape shape, NumberType type) {
  std::shared_ptr<void> memory = allocated(static_cast<size_t>(count_of(shape, type) * size_of(type)));
  void* data = memory.get();
  return {data, std::move(shape), type, std::move(memory)};
}

Array Array::zeros(Shape shape, NumberType type) {
  Array array = uninitialised(std::move(shape), type);
  std::memset(array.data_, 0, array.bytes());
  return array;
}

Array Array::view(void* data, Shape shape, NumberType type, std::shared_ptr<const void> owner) {
  PROTOCOM_CHECK(owner != nullptr);
  return {data, std::move(shape), type, std::move(owner)};
}

int64_t Array::size(int64_t dimension) const {
  PROTOCOM_CHECK(dimension >= 0 && dimension < dim());
  return shape_[static_cast<size_t>(dimension)];
}

char* Array::place(int64_t row) const {
  const int64_t width = size(0) == 0 ? 0 : count_ / size(0);
  return static_cast<char*>(data_) + row * width * size_of(type_);
}

Array Array::rows(int64_t begin, int64_t end) const {
  PROTOCOM_CHECK(0 <= begin && begin <= end && end <= size(0));
  Shape shape = shape_;
  shape[0] = end - begin;
  return {place(begin), std::move(shape), type_, owner_};
}

Array Array::row(int64_t index) const {
  PROTOCOM_CHECK(0 <= index && index < size(0));
  return {place(index), Shape(shape_.begin() + 1, shape_.end()), type_, owner_};
}

Array Array::reshaped(Shape shape) const {
  Array other(data_, std::move(shape), type_, owner_);
  PROTOCOM_CHECK(defined() && other.count_ == count_);
  return other;
}

Array Array::to(NumberType type) const {
  PROTOCOM_CHECK(defined());
  if (type == type_) return *this;
  Array out = uninitialised(shape_, type);
  with_type(type_, [&](auto from) {
    with_type(type, [&](auto to) {
      convert(static_cast<const typename decltype(from)::Type*>(data_),
              static_cast<typename decltype(to)::Type*>(out.data_), count_);
    });
  });
  return out;
}

Array Array::gathered(const std::vector<int64_t>& indices) const {
  Shape shape = shape_;
  PROTOCOM_CHECK(!shape.empty());
  shape[0] = static_cast<int64_t>(indices.size());
  Array out = uninitialised(std::move(shape), type_);
  const size_t bytes = indices.empty() ? 0 : out.bytes() / indices.size();  // per row
  for (size_t i = 0; i < indices.size(); ++i) {
    PROTOCOM_CHECK(0 <= indices[i] && indices[i] < size(0));
    copy_bytes(out.place(static_cast<int64_t>(i)), place(indices[i]), bytes);
  }
  return out;
}

Array Array::joined(const std::vector<Array>& parts) {
  PROTOCOM_CHECK(!parts.empty());
  Shape shape = parts.front().shape();
  shape.at(0) = 0;
  for (const Array& part : parts) {
    PROTOCOM_CHECK(part.type() == parts.front().type() && part.dim() == static_cast<int64_t>(shape.size()));
    PROTOCOM_CHECK(std::equal(shape.begin() + 1, shape.end(), part.shape().begin() + 1));
    shape[0] += part.size(0);
  }
  Array out = uninitialised(std::move(shape), parts.front().type());
  auto* to = static_cast<char*>(out.data_);
  for (const Array& part : parts) {
    copy_bytes(to, part.data_, part.bytes());
    to += part.bytes();
  }
  return out;
}

Array Array::copy() const {
  PROTOCOM_CHECK(defined());
  Array out = uninitialised(shape_, type_);
  copy_bytes(out.data_, data_, bytes());
  return out;
}

}  // namespace protocom
