#pragma once
#include <ATen/ATen.h>

#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

namespace protocom::testing {

/// A node's attributes by kind, and its domain.
struct OnnxAttributes {
  std::map<std::string, std::vector<int64_t>> integers = {};
  std::map<std::string, int64_t> whole = {};
  std::map<std::string, float> number = {};
  std::string domain = {};
  std::map<std::string, std::string> text = {};
};

/// Returns one attribute, a list of integers.
inline OnnxAttributes whole_attribute(const std::string& name, std::vector<int64_t> values) {
  OnnxAttributes made;
  made.integers[name] = std::move(values);
  return made;
}

/// Writes ONNX files by hand, as exporters do.
class OnnxWriter {
 public:
  explicit OnnxWriter(int64_t opset = 17) : opset_(opset) {}

  void input(const std::string& name, const std::vector<int64_t>& sizes) { value(11, name, sizes); }
  void output(const std::string& name, const std::vector<int64_t>& sizes = {}) { value(12, name, sizes); }
  void metadata(const std::string& key, const std::string& text) { metadata_[key] = text; }

  /// Adds a tensor as raw bytes, as exporters do.
  void raw(const std::string& name, const at::Tensor& tensor, int32_t type = 1) {
    std::string bytes = header(name, tensor, type);
    protozero::pbf_writer(bytes).add_bytes(9, static_cast<const char*>(tensor.contiguous().data_ptr()),
                                           tensor.nbytes());
    protozero::pbf_writer(graph_).add_message(5, bytes);
  }
  /// Adds a tensor as a list of numbers.
  void typed(const std::string& name, const at::Tensor& floats) {
    std::string bytes = header(name, floats, 1);
    const at::Tensor flat = floats.contiguous();
    protozero::pbf_writer(bytes).add_packed_float(4, flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
    protozero::pbf_writer(graph_).add_message(5, bytes);
  }
  /// Adds a tensor stored in another file.
  void outside(const std::string& name, const at::Tensor& floats, const std::map<std::string, std::string>& place) {
    std::string bytes = header(name, floats, 1);
    protozero::pbf_writer writer(bytes);
    for (const auto& [key, text] : place) writer.add_message(13, pair(key, text));
    writer.add_int32(14, 1);
    protozero::pbf_writer(graph_).add_message(5, bytes);
  }
  /// Adds integers, such as a shape.
  void integers(const std::string& name, const std::vector<int64_t>& values) {
    raw(name, at::tensor(values, at::kLong), 7);
  }

  void node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
            const OnnxAttributes& attributes = {}) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    for (const std::string& name : inputs) writer.add_string(1, name);
    for (const std::string& name : outputs) writer.add_string(2, name);
    writer.add_string(3, "node_" + outputs.front());
    writer.add_string(4, op);
    if (!attributes.domain.empty()) writer.add_string(7, attributes.domain);
    for (const auto& [name, values] : attributes.integers) {
      protozero::pbf_writer attribute(writer, 5);
      attribute.add_string(1, name);
      for (const int64_t one : values) attribute.add_int64(8, one);
      attribute.add_int32(20, 7);  // AttributeProto.Type, also below
    }
    for (const auto& [name, one] : attributes.whole) {
      protozero::pbf_writer attribute(writer, 5);
      attribute.add_string(1, name);
      attribute.add_int64(3, one);
      attribute.add_int32(20, 2);
    }
    for (const auto& [name, one] : attributes.number) {
      protozero::pbf_writer attribute(writer, 5);
      attribute.add_string(1, name);
      attribute.add_float(2, one);
      attribute.add_int32(20, 1);
    }
    for (const auto& [name, one] : attributes.text) {
      protozero::pbf_writer attribute(writer, 5);
      attribute.add_string(1, name);
      attribute.add_string(4, one);
      attribute.add_int32(20, 3);
    }
    protozero::pbf_writer(graph_).add_message(1, bytes);
  }

  [[nodiscard]] std::string bytes() const {
    std::string model;
    protozero::pbf_writer writer(model);
    writer.add_int64(1, 8);
    writer.add_message(7, graph_);
    {
      protozero::pbf_writer opset(writer, 8);
      opset.add_string(1, "");
      opset.add_int64(2, opset_);
    }
    for (const auto& [key, text] : metadata_) writer.add_message(14, pair(key, text));
    return model;
  }

 private:
  static std::string pair(const std::string& key, const std::string& text) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    writer.add_string(1, key);
    writer.add_string(2, text);
    return bytes;
  }
  static std::string header(const std::string& name, const at::Tensor& tensor, int32_t type) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    for (const int64_t size : tensor.sizes()) writer.add_int64(1, size);
    writer.add_int32(2, type);
    writer.add_string(8, name);
    return bytes;
  }
  /// A size of -1 is left open.
  void value(protozero::pbf_tag_type field, const std::string& name, const std::vector<int64_t>& sizes) {
    std::string shape;
    for (const int64_t size : sizes) {
      protozero::pbf_writer writer(shape);
      protozero::pbf_writer dim(writer, 1);
      if (size >= 0)
        dim.add_int64(1, size);
      else
        dim.add_string(2, "n");
    }
    std::string tensor;
    protozero::pbf_writer tensor_writer(tensor);
    tensor_writer.add_int32(1, 1);
    tensor_writer.add_message(2, shape);
    std::string type;
    protozero::pbf_writer(type).add_message(1, tensor);
    std::string whole;
    protozero::pbf_writer writer(whole);
    writer.add_string(1, name);
    writer.add_message(2, type);
    protozero::pbf_writer(graph_).add_message(field, whole);
  }

  int64_t opset_;
  std::string graph_;
  std::map<std::string, std::string> metadata_;
};

}  // namespace protocom::testing
