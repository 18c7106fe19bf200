#pragma once
#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <memory>
#include <string>

#include "encoders/onnx_graph_writer.h"
#include "networks/recorded/detail/item.h"
#include "networks/recorded/detail/step.h"

namespace protocom::recorded {

/// The computation of a network for a number of images, recorded by LibTorch's tracer. Its input is the images, its
/// output their features.
struct Recording {
  int64_t images = 0;
  std::shared_ptr<torch::jit::Graph> graph;
};

/// Thrown if two recordings of one network have different operators: the computation depends on the number of images.
class UnequalRecordings : public std::exception {};

/// Writes a network's operators after the input `image` of a graph and names its features. Values that are equal in
/// both recordings become constants; an axis that is longer in one of them grows with the images. Throws Error for an
/// unsupported operator, UnequalRecordings.
class Writing {
 public:
  explicit Writing(onnx::GraphWriter& graph) : graph_(graph) {}
  std::string write(const Recording& first, const Recording& second);

 private:
  using Node = torch::jit::Node;
  using Value = torch::jit::Value;

  void add(const Node& node, const Node& other);
  void add_list(const Node& node);
  void add_parts(const Node& node, const Node& other);
  bool compute(const Node& node);
  void add_operator(const Node& node, const Node& other);
  [[nodiscard]] const Item& item(const Value* value) const;
  [[nodiscard]] Lengths lengths(const Value* value, const Value* other) const;
  std::string shape(const Lengths& lengths);

  onnx::GraphWriter& graph_;
  std::map<const Value*, Item> items_;  // in the first recording
  int64_t images_ = 0, other_images_ = 0;
  std::string count_;  // number of images, int64 [1]
};

}  // namespace protocom::recorded
