#include <algorithm>
#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "encoders/onnx_tensor_files.h"
#include "encoders/protobuf.h"
#include "io/files.h"
#include "networks/onnx/detail/model.h"
#include "networks/onnx/detail/operators.h"
#include "networks/onnx/detail/quantised.h"
#include "networks/onnx/detail/tensor_proto.h"

namespace protocom::onnx {
namespace {

using protozero::pbf_reader;

/// Limit of nodes: one of two bytes takes hundreds in memory; encoders have thousands of nodes.
constexpr size_t kMostNodes = 100'000;

/// Field numbers, named after their message.
constexpr protozero::pbf_tag_type kModelGraph = 7, kModelOpset = 8, kModelMetadata = 14;
constexpr protozero::pbf_tag_type kGraphNode = 1, kGraphInitializer = 5, kGraphValue = 11, kGraphOutput = 12,
                                  kGraphSparse = 15;

void read_attribute(pbf_reader reader, Node& node, TensorFiles& files) {
  std::string name;
  Attribute attribute;
  std::vector<float> floats;
  // Graphs are skipped: operators with graphs are not supported.
  read_fields(
      reader, Field{1, [&] { name = read_text(reader); }}, Field{2, [&] { attribute.number = read_float(reader); }},
      Field{3, [&] { attribute.whole = read_integer(reader); }}, Field{4, [&] { attribute.text = read_text(reader); }},
      Field{5, [&] { attribute.tensor = read_tensor(read_message(reader), files).second; }},
      Field{7, [&] { append_floats(reader, floats); }}, Field{8, [&] { append_integers(reader, attribute.integers); }});
  attribute.numbers.assign(floats.begin(), floats.end());
  node.attributes[name] = std::move(attribute);
}

Node read_node(pbf_reader reader, TensorFiles& files) {
  Node node;
  read_fields(reader, Field{1, [&] { node.inputs.push_back(read_text(reader)); }},
              Field{2, [&] { node.outputs.push_back(read_text(reader)); }},
              Field{3, [&] { node.name = read_text(reader); }}, Field{4, [&] { node.op = read_text(reader); }},
              Field{5, [&] { read_attribute(read_message(reader), node, files); }},
              Field{7, [&] { node.domain = read_text(reader); }});
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

void read_graph(pbf_reader reader, Model& model, TensorFiles& files) {
  const auto check_count = [&model] {
    if (model.nodes.size() + model.constants.size() > kMostNodes)
      fail("it has more than {} operators and tensors", kMostNodes);
  };
  const auto add_node = [&] {
    model.nodes.push_back(read_node(read_message(reader), files));
    check_count();
  };
  const auto add_constant = [&] {
    auto [name, tensor] = read_tensor(read_message(reader), files);
    if (!model.constants.emplace(name, tensor).second) fail("duplicate tensor '{}'", excerpt(name));
    check_count();
  };
  read_fields(reader, Field{kGraphNode, add_node}, Field{kGraphInitializer, add_constant},
              Field{kGraphValue, [&] { model.inputs.push_back(read_value(read_message(reader))); }},
              Field{kGraphOutput, [&] { model.outputs.push_back(read_value(read_message(reader))); }},
              Field{kGraphSparse, [] { fail("sparse tensors are not supported"); }});
}

/// Removes constants from the inputs, among which files of old versions list them.
void drop_constants_of_inputs(Model& model) {
  std::vector<GraphValue> inputs;
  for (GraphValue& input : model.inputs) {
    if (model.constants.count(input.name) == 0) inputs.push_back(std::move(input));
  }
  model.inputs = std::move(inputs);
}

/// Whether the values that a node uses are known.
bool is_ready(const Node& node, const std::set<std::string>& known) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](const std::string& input) { return input.empty() || known.count(input) > 0; });
}

/// Sorts operators by dependency, in few passes if little is out of order; those with missing inputs stay last for
/// check_order to report.
void sort_nodes(Model& model) {
  constexpr int kMostPasses = 1000;  // a file in reverse order must not take hours
  std::set<std::string> known;
  for (const GraphValue& input : model.inputs) known.insert(input.name);
  for (const auto& [name, tensor] : model.constants) known.insert(name);
  std::vector<Node> sorted, waiting = std::move(model.nodes);
  for (int pass = 0; pass < kMostPasses && !waiting.empty(); ++pass) {
    std::vector<Node> later;
    for (Node& node : waiting) {
      const bool ready = is_ready(node, known);
      if (ready) known.insert(node.outputs.begin(), node.outputs.end());
      (ready ? sorted : later).push_back(std::move(node));
    }
    const bool stuck = later.size() == waiting.size();
    waiting = std::move(later);
    if (stuck) break;
  }
  std::move(waiting.begin(), waiting.end(), std::back_inserter(sorted));
  model.nodes = std::move(sorted);
}

Model read_bytes(std::string_view bytes, TensorFiles& files, const std::filesystem::path& path) {
  Model model;
  std::map<std::string, std::string> metadata;
  pbf_reader reader(bytes.data(), bytes.size());
  read_fields(reader, Field{kModelGraph, [&] { read_graph(read_message(reader), model, files); }},
              Field{kModelOpset, [&] { model.opset = std::max(model.opset, read_opset(read_message(reader))); }},
              Field{kModelMetadata, [&] { metadata.insert(read_pair(read_message(reader))); }});
  if (model.opset < kOldestOpset || model.opset > kNewestOpset)
    fail("opset {} is not supported, expected {} to {}: export it again with opset_version=18 to 20", model.opset,
         kOldestOpset, kNewestOpset);
  drop_constants_of_inputs(model);
  write_out_quantised(model);
  sort_nodes(model);
  check_order(model);
  model.stated = stated_in(metadata, path);
  return model;
}

}  // namespace

void check_order(const Model& model) {
  std::set<std::string> known;
  const auto add = [&](const std::string& name) {
    if (!known.insert(name).second) fail("duplicate name '{}'", excerpt(name));
  };
  for (const GraphValue& input : model.inputs) add(input.name);
  for (const auto& [name, tensor] : model.constants) add(name);
  for (const Node& node : model.nodes) {
    check_inputs(node);
    for (const std::string& input : node.inputs) {
      if (!input.empty() && known.count(input) == 0)
        fail("{} '{}': unknown input '{}'", excerpt(node.op), excerpt(node.name), excerpt(input));
    }
    for (const std::string& output : node.outputs) {
      if (!output.empty()) add(output);
    }
  }
  for (const GraphValue& output : model.outputs) {
    if (known.count(output.name) == 0) fail("missing output '{}'", excerpt(output.name));
  }
}

Model read_model(const std::filesystem::path& path) {
  return as_onnx(path, [&] {
    const MappedFile file(path);
    TensorFiles files(path);
    return read_bytes(file.bytes(), files, path);
  });
}

}  // namespace protocom::onnx
