#include "encoders/onnx_stored_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>

#include "base/matrix.h"
#include "encoders/protobuf.h"

namespace protocom::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

/// Field numbers, named after their message (onnx.proto).
constexpr protozero::pbf_tag_type kOfGraphNode = 1, kOfGraphTensor = 5;
constexpr protozero::pbf_tag_type kOfNodeInput = 1, kOfNodeOutput = 2, kOfNodeName = 3, kOfNodeOperator = 4,
                                  kOfNodeAttribute = 5;
constexpr protozero::pbf_tag_type kOfTensorSizes = 1, kOfTensorType = 2, kOfTensorFloats = 4, kOfTensorName = 8,
                                  kOfTensorBytes = 9;
constexpr int64_t kFloat = 1, kInt8 = 3, kHalf = 10;  // TensorProto.DataType

/// Tensors with fewer numbers, in all or per channel, do not justify the error of int8: in EfficientNet-Lite0 they are
/// 6 % of the weights, and including them lowers the cosine of the features with those of float32 from .998 to .993.
constexpr int64_t kFewestInt8 = 2048, kFewestInChannel = 32;

constexpr float kMostInt8 = 127;

int64_t product(std::vector<int64_t>::const_iterator begin, std::vector<int64_t>::const_iterator end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<>());
}

/// Reads dims of a TensorProto, which may be packed.
void take_sizes(pbf_reader& tensor, std::vector<int64_t>& sizes) {
  if (tensor.wire_type() != protozero::pbf_wire_type::length_delimited) return sizes.push_back(read_integer(tensor));
  for (const int64_t size : tensor.get_packed_int64()) sizes.push_back(size);
}

std::vector<float> floats_in(std::string_view bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

/// Whether a Gemm's second matrix is transposed.
bool is_transposed(pbf_reader attribute) {
  std::string name;
  int64_t value = 0;
  read_fields(attribute, Field{1, [&] { name = read_text(attribute); }},
              Field{3, [&] { value = read_integer(attribute); }});
  return name == "transB" && value != 0;
}

}  // namespace

Int8Weights int8_of(const std::vector<float>& weights, const std::vector<int64_t>& sizes, int64_t axis) {
  const auto channels = static_cast<size_t>(sizes[static_cast<size_t>(axis)]);
  const auto inner = static_cast<size_t>(product(sizes.begin() + axis + 1, sizes.end()));
  Int8Weights made{std::vector<int8_t>(weights.size()), std::vector<float>(channels, 0)};
  for (size_t i = 0; i < weights.size(); ++i) {
    float& most = made.scales[i / inner % channels];
    most = std::max(most, std::abs(weights[i]));
  }
  for (float& scale : made.scales) scale = scale > 0 ? scale / kMostInt8 : 1;
  for (size_t i = 0; i < weights.size(); ++i) {
    const float number = std::nearbyint(weights[i] / made.scales[i / inner % channels]);
    made.numbers[i] = static_cast<int8_t>(std::clamp(number, -kMostInt8, kMostInt8));
  }
  return made;
}

void StoredWeights::take_uses(pbf_reader graph) {
  while (graph.next(kOfGraphNode)) {
    pbf_reader node = read_message(graph);
    std::string op;
    std::vector<std::string> inputs;
    bool transposed = false;
    read_fields(node, Field{kOfNodeInput, [&] { inputs.push_back(read_text(node)); }},
                Field{kOfNodeOperator, [&] { op = read_text(node); }},
                Field{kOfNodeAttribute, [&] { transposed = is_transposed(read_message(node)) || transposed; }});
    if (inputs.size() < 2) continue;
    if (op == "Conv" || (op == "Gemm" && transposed)) axes_.emplace(inputs[1], 0);
    if (op == "MatMul" || (op == "Gemm" && !transposed)) axes_.emplace(inputs[1], -1);
  }
}

/// Returns the numbers of a tensor that is float32, large, and finite; nothing for others.
std::optional<StoredWeights::Floats> StoredWeights::floats_of(pbf_reader tensor) {
  const auto place = read_place(tensor);
  int64_t type = 0;
  std::string_view bytes;
  Floats read;
  read_fields(tensor, Field{kOfTensorSizes, [&] { take_sizes(tensor, read.sizes); }},
              Field{kOfTensorType, [&] { type = read_integer(tensor); }},
              Field{kOfTensorFloats, [&] { read.values = floats_in(read_view(tensor)); }},
              Field{kOfTensorName, [&] { read.name = read_text(tensor); }},
              Field{kOfTensorBytes, [&] { bytes = read_view(tensor); }});
  if (type != kFloat) return std::nullopt;
  if (place) bytes = files_.peek(place->location, place->offset, place->length);
  if (read.values.empty()) read.values = floats_in(bytes);
  const auto count = static_cast<int64_t>(read.values.size());
  const bool finite = std::all_of(read.values.begin(), read.values.end(), [](float x) { return std::isfinite(x); });
  if (count < kFewestHalved || count != product(read.sizes.begin(), read.sizes.end()) || !finite) return std::nullopt;
  return read;
}

/// Returns the axis whose channels are rounded separately; nothing for weights that stay more exact.
std::optional<int64_t> StoredWeights::int8_axis(const Floats& tensor) const {
  const auto found = axes_.find(tensor.name);
  const auto count = static_cast<int64_t>(tensor.values.size()), rank = static_cast<int64_t>(tensor.sizes.size());
  if (weights_ != Weights::kInt8 || found == axes_.end() || rank < 2 || count < kFewestInt8) return std::nullopt;
  const int64_t axis = found->second < 0 ? rank - 1 : found->second;
  if (count / tensor.sizes[static_cast<size_t>(axis)] < kFewestInChannel) return std::nullopt;
  return axis;
}

void StoredWeights::add_operator(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::string& output) {
  pbf_writer graph(operators_);
  pbf_writer node(graph, kOfGraphNode);
  for (const std::string& input : inputs) node.add_string(kOfNodeInput, input);
  node.add_string(kOfNodeOutput, output);
  node.add_string(kOfNodeName, output + "/" + op);
  node.add_string(kOfNodeOperator, op);
  if (op != "Cast") return;
  pbf_writer attribute(node, kOfNodeAttribute);
  attribute.add_string(1, "to");
  attribute.add_int64(3, kFloat);
  attribute.add_int32(20, 2);  // AttributeProto.INT
}

void StoredWeights::write_tensor(const std::string& name, int64_t type, const std::vector<int64_t>& sizes,
                                 const void* values, size_t bytes, pbf_writer& graph) {
  pbf_writer tensor(graph, kOfGraphTensor);
  for (const int64_t size : sizes) tensor.add_int64(kOfTensorSizes, size);
  tensor.add_int64(kOfTensorType, type);
  tensor.add_string(kOfTensorName, name);
  tensors_.write(values, bytes, tensor);
}

void StoredWeights::write_int8(const Floats& tensor, int64_t axis, const std::string& name, pbf_writer& graph) {
  const Int8Weights rounded = int8_of(tensor.values, tensor.sizes, axis);
  std::vector<int64_t> of_scales(tensor.sizes.size(), 1);
  of_scales[static_cast<size_t>(axis)] = static_cast<int64_t>(rounded.scales.size());
  write_tensor(name + "/int8", kInt8, tensor.sizes, rounded.numbers.data(), rounded.numbers.size(), graph);
  write_tensor(name + "/scale", kFloat, of_scales, rounded.scales.data(), rounded.scales.size() * sizeof(float), graph);
  // Not DequantizeLinear: ONNX Runtime 1.32 recomputes it for each image, which takes four times as long, and it has an
  // axis only from operator set 13 on. These two are computed once, when the file is opened.
  add_operator("Cast", {name + "/int8"}, name + "/whole");
  add_operator("Mul", {name + "/whole", name + "/scale"}, name);
}

/// Returns false if a number is beyond float16.
bool StoredWeights::write_half(const Floats& tensor, const std::string& name, pbf_writer& graph) {
  const std::vector<Eigen::half> halves(tensor.values.begin(), tensor.values.end());
  const bool finite =
      std::all_of(halves.begin(), halves.end(), [](Eigen::half x) { return Eigen::numext::isfinite(x); });
  if (!finite) return false;
  write_tensor(name + "/half", kHalf, tensor.sizes, halves.data(), halves.size() * sizeof(Eigen::half), graph);
  add_operator("Cast", {name + "/half"}, name);
  return true;
}

bool StoredWeights::write(pbf_reader tensor, const std::string& name, pbf_writer& graph) {
  if (weights_ == Weights::kFloat32) return false;
  const std::optional<Floats> floats = floats_of(tensor);
  if (!floats) return false;
  const std::optional<int64_t> axis = int8_axis(*floats);
  if (!axis && !write_half(*floats, name, graph)) return false;
  if (axis) write_int8(*floats, *axis, name, graph);
  if (const auto place = read_place(tensor)) files_.bytes(place->location, place->offset, place->length);
  return true;
}

}  // namespace protocom::onnx
