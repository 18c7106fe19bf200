#include "encoders/onnx_kept_graph.h"

#include <algorithm>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "encoders/onnx_file.h"
#include "encoders/onnx_stored_weights.h"
#include "encoders/onnx_tensor_files.h"
#include "encoders/onnx_tensor_store.h"
#include "encoders/protobuf.h"
#include "encoders/protobuf_copy.h"
#include "io/files.h"

namespace protocom::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

/// Field numbers, named after their message (onnx.proto).
constexpr protozero::pbf_tag_type kModelVersion = 1, kModelGraphField = 7, kModelOpsets = 8, kModelFunction = 25;
constexpr protozero::pbf_tag_type kFunctionName = 1, kFunctionDomain = 10;
constexpr protozero::pbf_tag_type kGraphNode = 1, kGraphName = 2, kGraphTensor = 5, kGraphText = 10, kGraphIn = 11,
                                  kGraphOut = 12, kGraphInfo = 13, kGraphQuantization = 14, kGraphSparse = 15;
constexpr protozero::pbf_tag_type kNodeInput = 1, kNodeOutput = 2, kNodeName = 3, kNodeOperator = 4, kNodeAttribute = 5,
                                  kNodeDomain = 7;
constexpr protozero::pbf_tag_type kAttributeGraph = 6, kAttributeGraphs = 11;
constexpr protozero::pbf_tag_type kTensorText = 8, kTensorBytes = 9, kTensorOutside = 13, kTensorWhere = 14;

/// An operator's domain and name.
using OperatorName = std::pair<std::string, std::string>;

std::string renamed(const std::string& name) { return name.empty() ? name : kKeptPrefix + name; }

std::string name_of(pbf_reader tensor) {
  std::string name;
  read_fields(tensor, Field{kTensorText, [&] { name = read_text(tensor); }});
  return name;
}

/// Copies a message whose fields `names` are names of values, with these renamed.
void copy_renamed(pbf_reader from, const std::set<protozero::pbf_tag_type>& names, pbf_writer& to) {
  while (from.next()) {
    const auto tag = from.tag();
    if (names.count(tag) > 0)
      to.add_string(tag, renamed(read_text(from)));
    else
      copy_field(from, to);
  }
}

/// Copies a graph with renamed values.
class Renaming {
 public:
  Renaming(const std::filesystem::path& path, std::set<OperatorName> own, const KeptGraph& kept)
      : files_(path), own_(std::move(own)), tensors_(*kept.tensors), stored_(kept.weights, files_, tensors_) {}

  /// `whole`: the graph of a loop or a branch, with its name, inputs and outputs.
  void copy_graph(pbf_reader from, bool whole, pbf_writer& to);
  /// Call for a graph before it is copied.
  void take_uses(pbf_reader graph) { stored_.take_uses(graph); }
  /// Operators that convert smaller tensors to float32; they come first.
  [[nodiscard]] const std::string& operators() const { return stored_.operators(); }

 private:
  void copy_node(pbf_reader from, pbf_writer& to);
  void copy_attribute(pbf_reader from, pbf_writer& to);
  /// `inside`: in a loop or a branch.
  void copy_tensor(pbf_reader from, bool inside, pbf_writer& to);
  void check_operator(pbf_reader node) const;

  TensorFiles files_;
  std::set<OperatorName> own_;  // those that the file defines
  TensorStore& tensors_;
  StoredWeights stored_;
};

void Renaming::check_operator(pbf_reader node) const {
  OperatorName name;
  read_fields(node, Field{kNodeDomain, [&] { name.first = read_text(node); }},
              Field{kNodeOperator, [&] { name.second = read_text(node); }});
  const bool standard = name.first.empty() || name.first == "ai.onnx" || name.first == "ai.onnx.ml";
  if (standard || own_.count(name) > 0) return;
  fail("its operator '{}' of the domain '{}' is not standard ONNX: export the encoder with standard operators",
       excerpt(name.second), excerpt(name.first));
}

void Renaming::copy_tensor(pbf_reader from, bool inside, pbf_writer& to) {
  const auto place = read_place(from);
  std::optional<std::string_view> bytes;
  while (from.next()) {
    if (from.tag() == kTensorText)
      to.add_string(kTensorText, renamed(read_text(from)));
    else if (place && (from.tag() == kTensorOutside || from.tag() == kTensorWhere))
      from.skip();
    else if (from.tag() == kTensorBytes)
      bytes = read_view(from);
    else
      copy_field(from, to);
  }
  if (place) bytes = files_.bytes(place->location, place->offset, place->length);
  if (bytes && inside) to.add_bytes(kTensorBytes, bytes->data(), bytes->size());
  if (bytes && !inside) tensors_.write(bytes->data(), bytes->size(), to);
}

void Renaming::copy_attribute(pbf_reader from, pbf_writer& to) {
  while (from.next()) {
    const auto tag = from.tag();
    if (tag == kAttributeGraph || tag == kAttributeGraphs) {
      pbf_writer graph(to, tag);
      copy_graph(read_message(from), /*whole=*/true, graph);
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
      to.add_string(tag, renamed(read_text(from)));
    } else if (tag == kNodeAttribute) {
      pbf_writer attribute(to, tag);
      copy_attribute(read_message(from), attribute);
    } else {
      copy_field(from, to);
    }
  }
}

void Renaming::copy_graph(pbf_reader from, bool whole, pbf_writer& to) {
  while (from.next()) {
    const auto tag = from.tag();
    const bool end = tag == kGraphIn || tag == kGraphOut;
    const bool of_file = end || tag == kGraphName || tag == kGraphText;
    if (tag == kGraphQuantization || (of_file && !whole)) {
      from.skip();  // the first is a note for tools
    } else if (tag == kGraphNode) {
      pbf_writer node(to, tag);
      copy_node(read_message(from), node);
    } else if (tag == kGraphTensor) {
      const pbf_reader own = read_message(from);
      if (!whole && stored_.write(own, renamed(name_of(own)), to)) continue;
      pbf_writer tensor(to, tag);
      copy_tensor(own, whole, tensor);
    } else if (end || tag == kGraphInfo) {
      pbf_writer value(to, tag);
      copy_renamed(read_message(from), {1}, value);
    } else if (tag == kGraphSparse) {
      fail("sparse tensors are not supported: export the encoder with dense ones");
    } else {
      copy_field(from, to);
    }
  }
}

OperatorName function_of(pbf_reader function) {
  OperatorName name;
  read_fields(function, Field{kFunctionName, [&] { name.second = read_text(function); }},
              Field{kFunctionDomain, [&] { name.first = read_text(function); }});
  return name;
}

/// Copies everything but the graph; returns the functions that the file defines.
std::set<OperatorName> keep_model(pbf_reader from, KeptGraph& to) {
  std::set<OperatorName> functions;
  pbf_writer model(to.model);
  while (from.next()) {
    if (from.tag() == kModelVersion) {
      to.ir_version = read_integer(from);
    } else if (from.tag() == kModelOpsets || from.tag() == kModelFunction) {
      const auto tag = from.tag();
      const std::string_view bytes = read_view(from);
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

KeptGraph kept_graph(const std::filesystem::path& path, Weights weights, std::shared_ptr<TensorStore> tensors) {
  return as_onnx(path, [&] {
    const MappedFile file(path);
    KeptGraph kept;
    pbf_reader model(file.bytes().data(), file.bytes().size());
    kept.weights = weights;
    kept.tensors = tensors ? tensors : std::make_shared<TensorStore>();
    Renaming renaming(path, keep_model(model, kept), kept);
    if (kept.opset < kOldestKept)
      fail("it has opset {}, expected {} or later: export the encoder with a newer opset", kept.opset, kOldestKept);
    std::string copied;
    pbf_writer graph(copied);
    while (model.next(kModelGraphField)) {
      const pbf_reader own = read_message(model);
      renaming.take_uses(own);
      renaming.copy_graph(own, /*whole=*/false, graph);
    }
    kept.graph = renaming.operators() + copied;
    return kept;
  });
}

}  // namespace protocom::onnx
