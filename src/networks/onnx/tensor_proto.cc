#include "networks/onnx/detail/tensor_proto.h"

#include <ATen/ATen.h>

#include <array>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "encoders/protobuf.h"
#include "io/memory_file.h"

namespace protocom::onnx {
namespace {

/// Fields of TensorProto.
enum TensorField : protozero::pbf_tag_type {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11
};

constexpr size_t kMostDims = 12;

/// A parsed TensorProto; its bytes are not yet checked.
struct Parts {
  std::string name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;
  std::optional<std::string_view> raw;
};

Parts parts_of(protozero::pbf_reader reader) {
  Parts parts;
  const auto read_integers = [&] { append_integers(reader, parts.integers); };
  read_fields(reader, Field{kDims, [&] { append_integers(reader, parts.dims); }},
              Field{kDataType, [&] { parts.data_type = read_integer(reader); }},
              Field{kSegment, [] { fail("tensors in segments are not supported"); }},
              Field{kFloatData, [&] { append_floats(reader, parts.floats); }}, Field{kInt32Data, read_integers},
              Field{kInt64Data, read_integers}, Field{kUint64Data, read_integers},
              Field{kDoubleData, [&] { append_doubles(reader, parts.doubles); }},
              Field{kName, [&] { parts.name = read_text(reader); }},
              Field{kRawData, [&] { parts.raw = read_view(reader); }});
  return parts;
}

/// Returns the number of values of the shape. Throws Error if no file could hold them.
int64_t count_of(const Parts& parts) {
  int64_t count = 1;
  if (parts.dims.size() > kMostDims)
    fail("tensor '{}' has {} axes, expected at most {}", excerpt(parts.name), parts.dims.size(), kMostDims);
  for (const int64_t dim : parts.dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      fail("tensor '{}' has a size of {}; the file is damaged", excerpt(parts.name), dim);
  }
  return count;
}

at::Tensor from_bytes(const Parts& parts, at::ScalarType type, std::string_view bytes) {
  const int64_t count = count_of(parts);
  int64_t needed = 0;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(c10::elementSize(type)), &needed) ||
      needed != static_cast<int64_t>(bytes.size())) {
    fail("tensor '{}' has {} bytes for {} values; the file is damaged or cut off", excerpt(parts.name), bytes.size(),
         count);
  }
  at::Tensor tensor = at::empty(parts.dims, type);
  if (needed > 0) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

template <typename Value>
at::Tensor from_values(const Parts& parts, const std::vector<Value>& values, at::ScalarType type) {
  if (count_of(parts) != static_cast<int64_t>(values.size())) {
    fail("tensor '{}' has {} values for a shape of {}; the file is damaged", excerpt(parts.name), values.size(),
         count_of(parts));
  }
  return at::tensor(values, type).reshape(parts.dims);
}

/// Converts half precision, which is stored as bits among the typed numbers.
at::Tensor from_bits(const Parts& parts, at::ScalarType type) {
  const at::Tensor bits = from_values(parts, parts.integers, at::kLong).to(at::kShort).contiguous();
  return bits.view(type);
}

at::Tensor from_typed(const Parts& parts, at::ScalarType type) {
  if (type == at::kFloat) return from_values(parts, parts.floats, type);
  if (type == at::kDouble) return from_values(parts, parts.doubles, type);
  if (type == at::kHalf || type == at::kBFloat16) return from_bits(parts, type);
  return from_values(parts, parts.integers, at::kLong).to(type);
}

}  // namespace

std::optional<at::ScalarType> scalar_type(int64_t data_type) {
  constexpr at::ScalarType kNone = at::ScalarType::Undefined;
  // In the order of their numbers, from 0 on.
  constexpr std::array<at::ScalarType, 17> kAll = {
      kNone,     at::kFloat, at::kByte,   at::kChar, kNone,     at::kShort, at::kInt, at::kLong,    kNone,
      at::kBool, at::kHalf,  at::kDouble, kNone,     at::kLong, kNone,      kNone,    at::kBFloat16};
  if (data_type < 0 || data_type >= static_cast<int64_t>(kAll.size())) return std::nullopt;
  const at::ScalarType type = kAll[static_cast<size_t>(data_type)];
  return type == kNone ? std::nullopt : std::optional(type);
}

std::pair<std::string, at::Tensor> read_tensor(protozero::pbf_reader tensor, TensorFiles& files) {
  const Parts parts = parts_of(tensor);
  const auto type = scalar_type(parts.data_type);
  if (!type) fail("tensor '{}' is of ONNX's type {}, which is not supported", excerpt(parts.name), parts.data_type);
  at::Tensor read;
  if (const auto place = read_place(tensor)) {
    read = from_bytes(parts, *type, files.bytes(place->location, place->offset, place->length));
  } else {
    read = parts.raw ? from_bytes(parts, *type, *parts.raw) : from_typed(parts, *type);
  }
  const bool half = *type == at::kHalf || *type == at::kBFloat16;
  return {parts.name, half ? read.to(at::kFloat) : read};
}

namespace {

bool is_packed(const protozero::pbf_reader& reader) {
  return reader.has_wire_type(protozero::pbf_wire_type::length_delimited);
}

}  // namespace

void append_integers(protozero::pbf_reader& reader, std::vector<int64_t>& to) {
  if (!is_packed(reader)) return to.push_back(read_integer(reader));
  for (const int64_t value : reader.get_packed_int64()) to.push_back(value);
}

void append_floats(protozero::pbf_reader& reader, std::vector<float>& to) {
  if (!is_packed(reader)) return to.push_back(read_float(reader));
  for (const float value : reader.get_packed_float()) to.push_back(value);
}

void append_doubles(protozero::pbf_reader& reader, std::vector<double>& to) {
  if (!is_packed(reader)) return to.push_back(read_double(reader));
  for (const double value : reader.get_packed_double()) to.push_back(value);
}

}  // namespace protocom::onnx
