#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <set>

#include "base/error.h"
#include "encoders/protobuf.h"
#include "io/files.h"
#include "io/json.h"
#include "networks/onnx/detail/model.h"
#include "networks/onnx/detail/operators.h"
#include "networks/onnx/detail/tensor_proto.h"

namespace protocom::onnx {
namespace {

using protozero::pbf_reader;

/// A node of two bytes takes hundreds in memory; encoders have thousands of nodes.
constexpr size_t kMostNodes = 100'000;

constexpr const char* kStatedInMetadata = "preprocessing.json";

/// Numbers of fields, each with its message before it.
constexpr protozero::pbf_tag_type kModelGraph = 7, kModelOpset = 8, kModelMetadata = 14;
constexpr protozero::pbf_tag_type kGraphNode = 1, kGraphInitializer = 5, kGraphValue = 11, kGraphOutput = 12,
                                  kGraphSparse = 15;
constexpr protozero::pbf_tag_type kTensorRaw = 9, kTensorExternal = 13, kTensorLocation = 14;

void read_attribute(pbf_reader reader, Node& node, TensorFiles& files) {
  std::string name;
  Attribute attribute;
  std::vector<float> floats;
  // Graphs are passed over: the operators that have them are not among those known.
  read_fields(
      reader, Field{1, [&] { name = text_of(reader); }}, Field{2, [&] { attribute.number = float_of(reader); }},
      Field{3, [&] { attribute.whole = whole_of(reader); }}, Field{4, [&] { attribute.text = text_of(reader); }},
      Field{5, [&] { attribute.tensor = read_tensor(message_of(reader), files).second; }},
      Field{7, [&] { append_floats(reader, floats); }}, Field{8, [&] { append_wholes(reader, attribute.wholes); }});
  attribute.numbers.assign(floats.begin(), floats.end());
  node.attributes[name] = std::move(attribute);
}

Node read_node(pbf_reader reader, TensorFiles& files) {
  Node node;
  read_fields(reader, Field{1, [&] { node.inputs.push_back(text_of(reader)); }},
              Field{2, [&] { node.outputs.push_back(text_of(reader)); }},
              Field{3, [&] { node.name = text_of(reader); }}, Field{4, [&] { node.op = text_of(reader); }},
              Field{5, [&] { read_attribute(message_of(reader), node, files); }},
              Field{7, [&] { node.domain = text_of(reader); }});
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

/// TensorShapeProto; a size without a number is -1.
std::vector<int64_t> read_sizes(pbf_reader reader) {
  std::vector<int64_t> sizes;
  while (reader.next(1)) {
    pbf_reader dim = message_of(reader);
    int64_t size = -1;
    read_fields(dim, Field{1, [&] { size = whole_of(dim); }});
    sizes.push_back(size > 0 ? size : -1);
  }
  return sizes;
}

/// ValueInfoProto with its TypeProto.Tensor.
GraphValue read_value(pbf_reader reader) {
  GraphValue input;
  const auto read_type = [&](pbf_reader type) {
    while (type.next(1)) {
      pbf_reader tensor = message_of(type);
      while (tensor.next(2)) input.sizes = read_sizes(message_of(tensor));
    }
  };
  read_fields(reader, Field{1, [&] { input.name = text_of(reader); }},
              Field{2, [&] { read_type(message_of(reader)); }});
  return input;
}

void read_graph(pbf_reader reader, Model& model, TensorFiles& files) {
  const auto check_count = [&model] {
    if (model.nodes.size() + model.constants.size() > kMostNodes)
      fail("it has more than {} operators and tensors", kMostNodes);
  };
  const auto add_node = [&] {
    model.nodes.push_back(read_node(message_of(reader), files));
    check_count();
  };
  const auto add_constant = [&] {
    auto [name, tensor] = read_tensor(message_of(reader), files);
    if (!model.constants.emplace(name, tensor).second) fail("there are two tensors '{}'", excerpt(name));
    check_count();
  };
  read_fields(reader, Field{kGraphNode, add_node}, Field{kGraphInitializer, add_constant},
              Field{kGraphValue, [&] { model.inputs.push_back(read_value(message_of(reader))); }},
              Field{kGraphOutput, [&] { model.outputs.push_back(read_value(message_of(reader))); }},
              Field{kGraphSparse, [] { fail("it has sparse tensors, which are not read"); }});
}

int64_t read_opset(pbf_reader reader) {
  std::string domain;
  int64_t version = 0;
  read_fields(reader, Field{1, [&] { domain = text_of(reader); }}, Field{2, [&] { version = whole_of(reader); }});
  return domain.empty() || domain == "ai.onnx" ? version : 0;
}

/// Files of old versions list the constants among the inputs.
void drop_constants_of_inputs(Model& model) {
  std::vector<GraphValue> inputs;
  for (GraphValue& input : model.inputs) {
    if (model.constants.count(input.name) == 0) inputs.push_back(std::move(input));
  }
  model.inputs = std::move(inputs);
}

Model read_bytes(std::string_view bytes, TensorFiles& files, const std::string& where) {
  Model model;
  std::map<std::string, std::string> metadata;
  pbf_reader reader(bytes.data(), bytes.size());
  read_fields(reader, Field{kModelGraph, [&] { read_graph(message_of(reader), model, files); }},
              Field{kModelOpset, [&] { model.opset = std::max(model.opset, read_opset(message_of(reader))); }},
              Field{kModelMetadata, [&] { metadata.insert(read_pair(message_of(reader))); }});
  if (model.opset < kOldestOpset || model.opset > kNewestOpset)
    fail("its operators are those of opset {}, expected {} to {}: export it again with opset_version=17", model.opset,
         kOldestOpset, kNewestOpset);
  drop_constants_of_inputs(model);
  check_order(model);
  if (const auto found = metadata.find(kStatedInMetadata); found != metadata.end()) {
    const std::string what = where + ", " + kStatedInMetadata;
    model.stated = stated_preprocessing(parse_json(found->second, what), what);
  }
  return model;
}

/// Runs `read`; what protozero throws becomes a sentence.
template <typename Read>
auto as_onnx(const std::filesystem::path& path, const Read& read) {
  return reading(path, [&] {
    try {
      return read();
    } catch (const protozero::exception& error) {
      fail("{} is not an ONNX file, or is cut off ({})", path.string(), error.what());
    }
  });
}

/// Copies the field at which `from` stands.
void copy_field(pbf_reader& from, protozero::pbf_writer& to) {
  const auto tag = from.tag();
  switch (from.wire_type()) {
    case protozero::pbf_wire_type::varint:
      to.add_uint64(tag, from.get_uint64());
      break;
    case protozero::pbf_wire_type::fixed64:
      to.add_fixed64(tag, from.get_fixed64());
      break;
    case protozero::pbf_wire_type::fixed32:
      to.add_fixed32(tag, from.get_fixed32());
      break;
    default:
      to.add_bytes(tag, from.get_view());
  }
}

void copy_tensor(pbf_reader from, TensorFiles& files, protozero::pbf_writer& to) {
  const auto place = place_of(from);
  while (from.next()) {
    if (place && (from.tag() == kTensorExternal || from.tag() == kTensorLocation))
      from.skip();
    else
      copy_field(from, to);
  }
  if (!place) return;
  const std::string_view bytes = files.bytes(place->location, place->offset, place->length);
  to.add_bytes(kTensorRaw, bytes.data(), bytes.size());
}

void copy_graph(pbf_reader from, const std::string& output, TensorFiles& files, protozero::pbf_writer to) {
  while (from.next()) {
    if (from.tag() == kGraphInitializer) {
      protozero::pbf_writer tensor(to, kGraphInitializer);
      copy_tensor(message_of(from), files, tensor);
    } else if (from.tag() == kGraphOutput && !output.empty()) {
      from.skip();
    } else {
      copy_field(from, to);
    }
  }
  if (output.empty()) return;
  protozero::pbf_writer value(to, kGraphOutput);
  value.add_string(1, output);
}

bool any_outside(std::string_view bytes) {
  for (pbf_reader model(bytes.data(), bytes.size()); model.next(kModelGraph);) {
    for (pbf_reader graph = message_of(model); graph.next(kGraphInitializer);) {
      if (place_of(message_of(graph))) return true;
    }
  }
  return false;
}

}  // namespace

void check_order(const Model& model) {
  std::set<std::string> known;
  const auto add = [&](const std::string& name) {
    if (!known.insert(name).second) fail("two operators or tensors are called '{}'", excerpt(name));
  };
  for (const GraphValue& input : model.inputs) add(input.name);
  for (const auto& [name, tensor] : model.constants) add(name);
  for (const Node& node : model.nodes) {
    check_inputs(node);
    for (const std::string& input : node.inputs) {
      if (!input.empty() && known.count(input) == 0)
        fail("{} '{}' takes '{}', which nothing before it gives", excerpt(node.op), excerpt(node.name), excerpt(input));
    }
    for (const std::string& output : node.outputs) {
      if (!output.empty()) add(output);
    }
  }
  for (const GraphValue& output : model.outputs) {
    if (known.count(output.name) == 0) fail("nothing gives the output '{}'", excerpt(output.name));
  }
}

bool looks_like_onnx(std::string_view bytes) {
  static const std::set<protozero::pbf_tag_type> kFields = {1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26};
  bool graph = false;
  try {
    for (pbf_reader reader(bytes.data(), bytes.size()); reader.next(); reader.skip()) {
      if (kFields.count(reader.tag()) == 0) return false;
      graph = graph || reader.tag() == kModelGraph;
    }
  } catch (const protozero::exception&) {
    return bytes.size() > 1 && bytes[0] == 8 && bytes[1] > 0 && bytes[1] < 32;  // cut off behind its version
  }
  return graph;
}

Model read_model(const std::filesystem::path& path) {
  return as_onnx(path, [&] {
    const MappedFile file(path);
    TensorFiles files(path);
    return read_bytes(file.bytes(), files, path.string());
  });
}

std::optional<std::string> self_contained(const std::filesystem::path& path, const std::string& output) {
  return as_onnx(path, [&]() -> std::optional<std::string> {
    const MappedFile file(path);
    if (output.empty() && !any_outside(file.bytes())) return std::nullopt;
    TensorFiles files(path);
    std::string written;
    protozero::pbf_writer model_out(written);
    for (pbf_reader model(file.bytes().data(), file.bytes().size()); model.next();) {
      if (model.tag() == kModelGraph)
        copy_graph(message_of(model), output, files, protozero::pbf_writer(model_out, kModelGraph));
      else
        copy_field(model, model_out);
    }
    return written;
  });
}

}  // namespace protocom::onnx
