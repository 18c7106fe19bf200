#include "encoders/onnx_graph_writer.h"

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "base/error.h"

namespace protocom::onnx {
namespace {

using protozero::pbf_writer;

constexpr int64_t kOwnOpset = 17, kOwnVersion = 8;
/// The first version of the format in which a graph's constants are not inputs.
constexpr int64_t kConstantsApart = 4;

/// Returns the first operator set in which an operator takes axes as an input.
int64_t axes_are_input_since(const std::string& op) { return op == "ReduceSum" ? 13 : 18; }

KeptGraph nothing_kept(Weights weights, std::shared_ptr<TensorStore> tensors) {
  KeptGraph made;
  made.opset = kOwnOpset;
  made.ir_version = kOwnVersion;
  made.weights = weights;
  made.tensors = std::move(tensors);
  pbf_writer model(made.model);
  pbf_writer opset(model, 8);
  opset.add_string(1, "");
  opset.add_int64(2, kOwnOpset);
  return made;
}

/// Adds an AttributeProto with its type, AttributeProto.AttributeType.
void add_attribute(const std::string& name, int64_t value, pbf_writer& node) {
  pbf_writer attribute(node, 5);
  attribute.add_string(1, name);
  attribute.add_int64(3, value);
  attribute.add_int32(20, 2);
}
void add_attribute(const std::string& name, double value, pbf_writer& node) {
  pbf_writer attribute(node, 5);
  attribute.add_string(1, name);
  attribute.add_float(2, static_cast<float>(value));
  attribute.add_int32(20, 1);
}
void add_attribute(const std::string& name, const std::string& value, pbf_writer& node) {
  pbf_writer attribute(node, 5);
  attribute.add_string(1, name);
  attribute.add_bytes(4, value);
  attribute.add_int32(20, 3);
}
void add_attribute(const std::string& name, const std::vector<int64_t>& values, pbf_writer& node) {
  pbf_writer attribute(node, 5);
  attribute.add_string(1, name);
  for (const int64_t value : values) attribute.add_int64(8, value);
  attribute.add_int32(20, 7);
}

}  // namespace

GraphWriter::GraphWriter(Weights weights, std::shared_ptr<TensorStore> tensors)
    : GraphWriter(nothing_kept(weights, std::move(tensors))) {}

GraphWriter::GraphWriter(KeptGraph encoder) : made_(std::move(encoder)) {
  if (!made_.tensors) made_.tensors = std::make_shared<TensorStore>();
  std::swap(made_.graph, encoder_);
  pbf_writer(made_.graph).add_string(2, "recognizer");  // its name
}

void GraphWriter::add_encoder() {
  made_.graph += encoder_;
  encoder_ = {};
}

std::string GraphWriter::next_name(const std::string& what) { return fmt::format("answer/{}_{}", what, ++values_); }

void GraphWriter::declare(uint32_t field, const std::string& name, ValueType type, const std::vector<int64_t>& sizes) {
  pbf_writer graph(made_.graph);
  pbf_writer value(graph, field);
  value.add_string(1, name);
  pbf_writer kind(value, 2);
  pbf_writer tensor(kind, 1);
  tensor.add_int32(1, static_cast<int32_t>(type));
  pbf_writer shape(tensor, 2);
  for (const int64_t size : sizes) {
    pbf_writer dim(shape, 1);
    if (size < 0)
      dim.add_string(2, "n");
    else
      dim.add_int64(1, size);
  }
}

void GraphWriter::input(const std::string& name, ValueType type, const std::vector<int64_t>& sizes) {
  declare(11, name, type, sizes);
}

void GraphWriter::name_output(const std::string& value, const std::string& name, ValueType type,
                              const std::vector<int64_t>& sizes) {
  node("Identity", {value}, {}, name);
  declare(12, name, type, sizes);
}

std::string GraphWriter::tensor(const std::vector<int64_t>& sizes, ValueType type, const void* values, size_t bytes) {
  const std::string name = next_name("constant");
  pbf_writer graph(made_.graph);
  pbf_writer tensor(graph, 5);
  for (const int64_t size : sizes) tensor.add_int64(1, size);
  tensor.add_int32(2, static_cast<int32_t>(type));
  tensor.add_string(8, name);
  made_.tensors->write(values, bytes, tensor);
  return name;
}

std::string GraphWriter::matrix(const FloatMatrix& values) {
  const bool large = std::min(values.rows(), values.cols()) > 1 && values.size() >= kFewestHalved;
  if (made_.weights != Weights::kFloat32 && large) {
    const RowMatrix<Eigen::half> halves = values.cast<Eigen::half>();
    if (halves.cast<float>().allFinite())
      return cast(tensor({values.rows(), values.cols()}, ValueType::kFloat16, halves.data(),
                         static_cast<size_t>(halves.size()) * sizeof(Eigen::half)),
                  ValueType::kFloat32);
  }
  return tensor({values.rows(), values.cols()}, ValueType::kFloat32, values.data(),
                static_cast<size_t>(values.size()) * sizeof(float));
}

std::string GraphWriter::numbers(const std::vector<float>& values, const std::vector<int64_t>& sizes) {
  return tensor(sizes, ValueType::kFloat32, values.data(), values.size() * sizeof(float));
}

std::string GraphWriter::number(double value) { return numbers({static_cast<float>(value)}, {1}); }

std::string GraphWriter::integers(const std::vector<int64_t>& values) {
  return tensor({static_cast<int64_t>(values.size())}, ValueType::kInt64, values.data(),
                values.size() * sizeof(int64_t));
}

std::string GraphWriter::node(const std::string& op, const std::vector<std::string>& inputs,
                              const NodeAttributes& attributes, const std::string& output) {
  const std::string own = next_name(op);
  pbf_writer graph(made_.graph);
  pbf_writer node(graph, 1);
  for (const std::string& input : inputs) node.add_string(1, input);
  node.add_string(2, output.empty() ? own : output);
  node.add_string(3, own);
  node.add_string(4, op);
  for (const auto& [name, value] : attributes)
    std::visit([&, &name = name](const auto& one) { add_attribute(name, one, node); }, value);
  return output.empty() ? own : output;
}

std::string GraphWriter::reduced(const std::string& op, const std::string& input, int64_t axis, bool keep) {
  const int64_t keeps = keep ? 1 : 0;
  if (made_.opset < axes_are_input_since(op))
    return node(op, {input}, {{"axes", std::vector<int64_t>{axis}}, {"keepdims", keeps}});
  return node(op, {input, integers({axis})}, {{"keepdims", keeps}});
}

std::string GraphWriter::cast(const std::string& input, ValueType to, const std::string& output) {
  return node("Cast", {input}, {{"to", static_cast<int64_t>(to)}}, output);
}

std::string GraphWriter::model(const std::map<std::string, std::string>& metadata) const {
  constexpr int64_t kRoom = int64_t{1} << 20;  // of everything but the graph and the encoder's functions
  made_.tensors->check_size(static_cast<int64_t>(made_.graph.size() + made_.model.size()) + kRoom);
  std::string bytes;
  pbf_writer model(bytes);
  model.add_int64(1, std::max(made_.ir_version, kConstantsApart));
  model.add_string(2, "protocom");
  model.add_message(7, made_.graph);
  bytes += made_.model;
  for (const auto& [name, text] : metadata) {
    pbf_writer pair(model, 14);
    pair.add_string(1, name);
    pair.add_string(2, text);
  }
  made_.tensors->check_size(static_cast<int64_t>(bytes.size()));
  made_.tensors->close();
  return bytes;
}

}  // namespace protocom::onnx
