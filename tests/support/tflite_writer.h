#pragma once
#include <ATen/ATen.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace protocom::testing {

/// Content of a field of a FlatBuffer's table: the bytes of a number, a list of numbers, a table or tables.
struct FlatField;
using FlatFields = std::vector<FlatField>;
struct FlatList {
  uint32_t count = 0;
  std::string bytes = {};
};
struct FlatField {
  size_t number;
  std::variant<std::string, FlatList, FlatFields, std::vector<FlatFields>> value;
};

template <typename Number>
FlatField flat_number(size_t field, Number number) {
  return {field, std::string(reinterpret_cast<const char*>(&number), sizeof(number))};
}
template <typename Number>
FlatField flat_numbers(size_t field, const std::vector<Number>& numbers) {
  return {field, FlatList{static_cast<uint32_t>(numbers.size()),
                          std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number))}};
}
inline FlatField flat_text(size_t field, const std::string& text) {
  return {field, FlatList{static_cast<uint32_t>(text.size()), text}};
}

/// Writes FlatBuffers (https://flatbuffers.dev/internals), each part after those that refer to it.
class FlatWriter {
 public:
  static std::string written(const FlatFields& root, const std::string& identifier) {
    FlatWriter writer;
    writer.bytes_ = std::string(4, '\0') + identifier;
    writer.lead(0, writer.table(root));
    return writer.bytes_;
  }

 private:
  static constexpr size_t kSlot = 8;  // bytes for each field, whatever its content

  /// Appends a table; returns its offset.
  size_t table(const FlatFields& fields) {
    size_t most = 0;
    for (const FlatField& field : fields) most = std::max(most, field.number + 1);
    std::vector<uint16_t> list = {static_cast<uint16_t>(4 + 2 * most),
                                  static_cast<uint16_t>(4 + kSlot * fields.size())};
    list.resize(2 + most);
    for (size_t i = 0; i < fields.size(); ++i) list[2 + fields[i].number] = static_cast<uint16_t>(4 + kSlot * i);
    const size_t listed = append(list.data(), list.size() * sizeof(uint16_t));
    int32_t back = 0;
    const size_t place = append(&back, sizeof(back));
    back = static_cast<int32_t>(place - listed);
    std::memcpy(&bytes_[place], &back, sizeof(back));
    bytes_.resize(bytes_.size() + kSlot * fields.size());
    for (size_t i = 0; i < fields.size(); ++i) fill(place + 4 + kSlot * i, fields[i]);
    return place;
  }

  void fill(size_t slot, const FlatField& field) {
    if (const auto* number = std::get_if<std::string>(&field.value)) {
      bytes_.replace(slot, number->size(), *number);
    } else if (const auto* list = std::get_if<FlatList>(&field.value)) {
      const size_t place = append(&list->count, sizeof(list->count));
      append(list->bytes.data(), list->bytes.size());
      lead(slot, place);
    } else if (const auto* fields = std::get_if<FlatFields>(&field.value)) {
      lead(slot, table(*fields));
    } else {
      const auto& tables = std::get<std::vector<FlatFields>>(field.value);
      const auto count = static_cast<uint32_t>(tables.size());
      const size_t place = append(&count, sizeof(count));
      lead(slot, place);
      bytes_.resize(bytes_.size() + 4 * tables.size());
      for (size_t i = 0; i < tables.size(); ++i) lead(place + 4 + 4 * i, table(tables[i]));
    }
  }

  size_t append(const void* from, size_t size) {
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    const size_t place = bytes_.size();
    if (size > 0) bytes_.append(static_cast<const char*>(from), size);
    return place;
  }

  void lead(size_t from, size_t to) {
    const auto offset = static_cast<uint32_t>(to - from);
    std::memcpy(&bytes_[from], &offset, sizeof(offset));
  }

  std::string bytes_;
};

/// Writes TensorFlow Lite files by hand; numbers of fields as in TensorFlow's schema.fbs.
class TfliteWriter {
 public:
  TfliteWriter() : buffers_{FlatFields{}} {}

  /// Adds a tensor; returns its number.
  int32_t computed(const std::string& name, const std::vector<int32_t>& shape) { return add(name, shape, 0, 0); }
  int32_t constant(const std::string& name, const at::Tensor& values) {
    const at::Tensor flat = values.contiguous();
    const auto size = static_cast<uint32_t>(flat.nbytes());
    buffers_.push_back({{0, FlatList{size, std::string(static_cast<const char*>(flat.data_ptr()), size)}}});
    const int8_t type = flat.scalar_type() == at::kFloat ? 0 : flat.scalar_type() == at::kChar ? 9 : 2;
    return add(name, {flat.sizes().begin(), flat.sizes().end()}, static_cast<uint32_t>(buffers_.size() - 1), type);
  }
  /// Adds int8 with a scale for each index of the first axis.
  int32_t quantised(const std::string& name, const at::Tensor& values, const std::vector<float>& scales) {
    const int32_t number = constant(name, values);
    tensors_.back().push_back({4, FlatFields{flat_numbers(2, scales), flat_number(6, int32_t{0})}});
    return number;
  }
  /// Adds the last tensor again, with the same values.
  void repeat() { tensors_.push_back(tensors_.back()); }
  void node(int32_t code, const std::vector<int32_t>& inputs, int32_t output, const FlatFields& options = {}) {
    codes_.push_back({flat_number(0, static_cast<int8_t>(code)), flat_number(3, code)});
    operators_.push_back({flat_number(0, static_cast<uint32_t>(codes_.size() - 1)), flat_numbers(1, inputs),
                          flat_numbers(2, std::vector<int32_t>{output}), FlatField{4, options}});
  }
  [[nodiscard]] std::string bytes(int32_t input, int32_t output) const {
    const FlatFields graph = {FlatField{0, tensors_}, flat_numbers(1, std::vector<int32_t>{input}),
                              flat_numbers(2, std::vector<int32_t>{output}), FlatField{3, operators_}};
    return FlatWriter::written({flat_number(0, uint32_t{3}), FlatField{1, codes_},
                                FlatField{2, std::vector<FlatFields>{graph}}, FlatField{4, buffers_}},
                               "TFL3");
  }

 private:
  int32_t add(const std::string& name, const std::vector<int32_t>& shape, uint32_t buffer, int8_t type) {
    tensors_.push_back({flat_numbers(0, shape), flat_number(1, type), flat_number(2, buffer), flat_text(3, name)});
    return static_cast<int32_t>(tensors_.size() - 1);
  }

  std::vector<FlatFields> tensors_, codes_, operators_, buffers_;
};

/// A convolution with stride two, a depthwise one with integer weights, the mean, and a layer without bias.
struct SmallTflite {
  at::Tensor first = at::linspace(-1, 1, 54).view({2, 3, 3, 3});  // [out, h, w, in]
  at::Tensor bias = at::tensor({0.5F, -0.25F});
  at::Tensor each = at::arange(-9, 9).view({1, 3, 3, 2}).to(at::kChar);  // [1, h, w, channels]
  at::Tensor last = at::linspace(-2, 3, 8).view({4, 2});

  [[nodiscard]] std::string bytes() const {
    TfliteWriter writer;
    const int32_t images = writer.computed("images", {1, 8, 8, 3});
    const int32_t maps = writer.computed("maps", {1, 4, 4, 2});
    const int32_t deep = writer.computed("deep", {1, 2, 2, 2});
    const int32_t mean = writer.computed("mean", {1, 2});
    const int32_t scores = writer.computed("scores", {1, 4});
    // Padding 0 is SAME; strides of width and height; activation 3 is ReLU6.
    writer.node(
        3, {images, writer.constant("first", first), writer.constant("bias", bias)}, maps,
        {flat_number(0, int8_t{0}), flat_number(1, int32_t{2}), flat_number(2, int32_t{2}), flat_number(3, int8_t{3})});
    writer.node(4, {maps, writer.quantised("each", each, {0.125F})}, deep,
                {flat_number(0, int8_t{1}), flat_number(1, int32_t{1}), flat_number(2, int32_t{1}),
                 flat_number(3, int32_t{1})});
    writer.node(40, {deep, writer.constant("axes", at::tensor({1, 2}, at::kInt))}, mean);
    writer.node(9, {mean, writer.constant("last", last)}, scores);
    return writer.bytes(images, scores);
  }

  /// Returns what it pools, [n, 2].
  [[nodiscard]] at::Tensor features(const at::Tensor& images) const {
    // SAME of 8 by 3 with stride 2 lacks one column, which is added at the end.
    const at::Tensor padded = at::constant_pad_nd(images, {0, 1, 0, 1});
    const at::Tensor maps = at::conv2d(padded, first.permute({0, 3, 1, 2}), bias, at::IntArrayRef{2, 2}).clamp(0, 6);
    const at::Tensor weight = each.permute({3, 0, 1, 2}).to(at::kFloat) * 0.125F;
    return at::conv2d(maps, weight, at::Tensor(), at::IntArrayRef{1, 1}, at::IntArrayRef{0, 0}, at::IntArrayRef{1, 1},
                      2)
        .mean(at::IntArrayRef{2, 3});
  }
};

}  // namespace protocom::testing
