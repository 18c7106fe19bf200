#include "encoders/onnx_kept_graph.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/matrix.h"
#include "base/text.h"
#include "encoders/onnx_file.h"
#include "encoders/onnx_tensor_files.h"
#include "encoders/protobuf.h"
#include "encoders/protobuf_copy.h"
#include "io/files.h"

namespace protocom::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

/// Numbers of fields, each with its message before it (onnx.proto).
constexpr protozero::pbf_tag_type kModelVersion = 1, kModelGraphField = 7, kModelOpsets = 8, kModelFunction = 25;
constexpr protozero::pbf_tag_type kFunctionName = 1, kFunctionDomain = 10;
constexpr protozero::pbf_tag_type kGraphNode = 1, kGraphName = 2, kGraphTensor = 5, kGraphText = 10, kGraphIn = 11,
                                  kGraphOut = 12, kGraphInfo = 13, kGraphQuantization = 14, kGraphSparse = 15;
constexpr protozero::pbf_tag_type kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeOperator = 4, kNodeAttribute = 5,
                                  kNodeDomain = 7;
constexpr protozero::pbf_tag_type kAttributeGraph = 6, kAttributeGraphs = 11;
constexpr protozero::pbf_tag_type kTensorSizes = 1, kTensorType = 2, kTensorFloats = 4;
constexpr int64_t kFloatType = 1, kHalfType = 10;
constexpr protozero::pbf_tag_type kTensorText = 8, kTensorBytes = 9, kTensorOutside = 13, kTensorWhere = 14;

/// An operator's domain and name.
using OperatorName = std::pair<std::string, std::string>;

std::string renamed(const std::string& name) { return name.empty() ? name : kKeptPrefix + name; }

/// Copies a message whose fields `names` are names of values.
void copy_renamed(pbf_reader from, const std::set<protozero::pbf_tag_type>& names, pbf_writer& to) {
  while (from.next()) {
    const auto tag = from.tag();
    if (names.count(tag) > 0)
      to.add_string(tag, renamed(text_of(from)));
    else
      copy_field(from, to);
  }
}

/// Copies a graph with other names.
class Renaming {
 public:
  Renaming(const std::filesystem::path& path, std::set<OperatorName> own, Weights weights)
      : files_(path), own_(std::move(own)), weights_(weights) {}

  /// `whole`: of a loop or a branch, with its name, inputs and outputs.
  void copy_graph(pbf_reader from, bool whole, pbf_writer& to);
  /// Operators that make float32 of tensors in float16; they come first.
  [[nodiscard]] const std::string& casts() const { return casts_; }

 private:
  void copy_node(pbf_reader from, pbf_writer& to);
  void copy_attribute(pbf_reader from, pbf_writer& to);
  void copy_tensor(pbf_reader from, pbf_writer& to);
  std::optional<std::vector<Eigen::half>> halved(pbf_reader tensor);
  void write_halved(pbf_reader from, const std::vector<Eigen::half>& values, pbf_writer& to);
  void check_operator(pbf_reader node) const;

  TensorFiles files_;
  std::set<OperatorName> own_;  // that the file defines
  Weights weights_;
  std::string casts_;
};

void Renaming::check_operator(pbf_reader node) const {
  OperatorName name;
  read_fields(node, Field{kNodeDomain, [&] { name.first = text_of(node); }},
              Field{kNodeOperator, [&] { name.second = text_of(node); }});
  const bool standard = name.first.empty() || name.first == "ai.onnx" || name.first == "ai.onnx.ml";
  if (standard || own_.count(name) > 0) return;
  fail("its operator '{}' is of '{}', which not every program has: export the encoder with ONNX's own operators",
       excerpt(name.second), excerpt(name.first));
}

/// The numbers of a tensor that is float32 and large; nothing of others, and where one is beyond float16.
std::optional<std::vector<Eigen::half>> Renaming::halved(pbf_reader tensor) {
  const auto place = place_of(tensor);
  int64_t type = 0;
  std::string_view bytes;
  std::vector<float> floats;
  read_fields(tensor, Field{kTensorType, [&] { type = whole_of(tensor); }},
              Field{kTensorFloats,
                    [&] {
                      const std::string_view packed = view_of(tensor);
                      floats.resize(packed.size() / sizeof(float));
                      std::memcpy(floats.data(), packed.data(), floats.size() * sizeof(float));
                    }},
              Field{kTensorBytes, [&] { bytes = view_of(tensor); }});
  if (type != kFloatType) return std::nullopt;
  if (place) bytes = files_.bytes(place->location, place->offset, place->length);
  if (floats.empty()) {
    floats.resize(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  }
  if (static_cast<int64_t>(floats.size()) < kFewestHalved) return std::nullopt;
  std::vector<Eigen::half> halves(floats.begin(), floats.end());
  const bool finite =
      std::all_of(halves.begin(), halves.end(), [](Eigen::half x) { return Eigen::numext::isfinite(x); });
  if (!finite) return std::nullopt;
  return halves;
}

/// The tensor under another name, and what makes the one out of it that the graph asks for.
void Renaming::write_halved(pbf_reader from, const std::vector<Eigen::half>& values, pbf_writer& to) {
  std::string name;
  while (from.next()) {
    if (from.tag() == kTensorSizes)
      copy_field(from, to);
    else if (from.tag() == kTensorText)
      name = renamed(text_of(from));
    else
      from.skip();
  }
  to.add_int64(kTensorType, kHalfType);
  to.add_string(kTensorText, name + "/half");
  to.add_bytes(kTensorBytes, reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Eigen::half));
  pbf_writer graph(casts_);
  pbf_writer node(graph, kGraphNode);
  node.add_string(kNodeInput, name + "/half");
  node.add_string(kNodeOutput, name);
  node.add_string(kNodeName, name + "/cast");
  node.add_string(kNodeOperator, "Cast");
  pbf_writer attribute(node, kNodeAttribute);
  attribute.add_string(1, "to");
  attribute.add_int64(3, kFloatType);
  attribute.add_int32(20, 2);  // AttributeProto.INT
}

void Renaming::copy_tensor(pbf_reader from, pbf_writer& to) {
  const auto place = place_of(from);
  while (from.next()) {
    if (from.tag() == kTensorText)
      to.add_string(kTensorText, renamed(text_of(from)));
    else if (place && (from.tag() == kTensorOutside || from.tag() == kTensorWhere))
      from.skip();
    else
      copy_field(from, to);
  }
  if (!place) return;
  const std::string_view bytes = files_.bytes(place->location, place->offset, place->length);
  to.add_bytes(kTensorBytes, bytes.data(), bytes.size());
}

void Renaming::copy_attribute(pbf_reader from, pbf_writer& to) {
  while (from.next()) {
    const auto tag = from.tag();
    if (tag == kAttributeGraph || tag == kAttributeGraphs) {
      pbf_writer graph(to, tag);
      copy_graph(message_of(from), /*whole=*/true, graph);
    } else {
      copy_field(from, to);
    }
  }
}

void Renaming::copy_node(pbf_reader from, pbf_writer& to) {
  check_operator(from);
  while (from.next()) {
    const auto tag = from.tag();
    if (tag == kNodeInput || tag == kNodeOutput || tag == kNodeName) {
      to.add_string(tag, renamed(text_of(from)));
    } else if (tag == kNodeAttribute) {
      pbf_writer attribute(to, tag);
      copy_attribute(message_of(from), attribute);
    } else {
      copy_field(from, to);
    }
  }
}

void Renaming::copy_graph(pbf_reader from, bool whole, pbf_writer& to) {
  while (from.next()) {
    const auto tag = from.tag();
    const bool end = tag == kGraphIn || tag == kGraphOut;
    if (!whole && (end || tag == kGraphName || tag == kGraphText)) {
      from.skip();
    } else if (tag == kGraphNode) {
      pbf_writer node(to, tag);
      copy_node(message_of(from), node);
    } else if (tag == kGraphTensor) {
      const pbf_reader own = message_of(from);
      const bool rounds = !whole && weights_ == Weights::kFloat16;
      const auto halves = rounds ? halved(own) : std::nullopt;
      pbf_writer tensor(to, tag);
      if (halves)
        write_halved(own, *halves, tensor);
      else
        copy_tensor(own, tensor);
    } else if (end || tag == kGraphInfo) {
      pbf_writer value(to, tag);
      copy_renamed(message_of(from), {1}, value);
    } else if (tag == kGraphSparse) {
      fail("it has sparse tensors, which few programs read: export the encoder with dense ones");
    } else if (tag == kGraphQuantization) {
      from.skip();  // a remark for tools
    } else {
      copy_field(from, to);
    }
  }
}

OperatorName function_of(pbf_reader function) {
  OperatorName name;
  read_fields(function, Field{kFunctionName, [&] { name.second = text_of(function); }},
              Field{kFunctionDomain, [&] { name.first = text_of(function); }});
  return name;
}

/// All but the graph, and the functions that the file defines.
std::set<OperatorName> keep_model(pbf_reader from, KeptGraph& to) {
  std::set<OperatorName> functions;
  pbf_writer model(to.model);
  while (from.next()) {
    if (from.tag() == kModelVersion) {
      to.ir_version = whole_of(from);
    } else if (from.tag() == kModelOpsets || from.tag() == kModelFunction) {
      const auto tag = from.tag();
      const std::string_view bytes = view_of(from);
      const pbf_reader message(bytes.data(), bytes.size());
      model.add_message(tag, bytes.data(), bytes.size());
      if (tag == kModelOpsets)
        to.opset = std::max(to.opset, read_opset(message));
      else
        functions.insert(function_of(message));
    } else {
      from.skip();
    }
  }
  return functions;
}

}  // namespace

KeptGraph kept_graph(const std::filesystem::path& path, Weights weights) {
  return as_onnx(path, [&] {
    const MappedFile file(path);
    KeptGraph kept;
    pbf_reader model(file.bytes().data(), file.bytes().size());
    kept.weights = weights;
    Renaming renaming(path, keep_model(model, kept), weights);
    if (kept.opset < kOldestKept)
      fail("it has opset {}, expected {} or later: export the encoder with a newer opset", kept.opset, kOldestKept);
    std::string copied;
    pbf_writer graph(copied);
    while (model.next(kModelGraphField)) renaming.copy_graph(message_of(model), /*whole=*/false, graph);
    kept.graph = renaming.casts() + copied;
    return kept;
  });
}

}  // namespace protocom::onnx
