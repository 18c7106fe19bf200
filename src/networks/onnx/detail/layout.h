#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <string>

#include "networks/onnx/detail/model.h"
#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// Which values of a network lie in blocks of channels (blocks.h): what a convolution gives, and what becomes of it, as
/// long as all who take it can take blocks. Where others begin, blocks are made maps again.
class Layout {
 public:
  Layout(const Model& model, const std::string& output);

  /// The operator of a node, whose inputs and output are as they lie. To be asked in the order of the nodes.
  Operation operation(const Binding& binding);
  /// The sizes of the maps that lie so.
  [[nodiscard]] Sizes sizes(const std::string& name, at::IntArrayRef lying) const;

 private:
  [[nodiscard]] bool is_in_blocks(const std::string& name) const { return channels_.count(name) > 0; }
  [[nodiscard]] bool gives_blocks(const Node& node) const;
  [[nodiscard]] bool passes_blocks(const Binding& binding) const;
  /// Empty if it cannot be in blocks.
  Operation convolution(const Binding& binding);
  Operation passing(const Binding& binding, const Operation& plain);
  [[nodiscard]] Operation on_maps(const Node& node, const Operation& plain) const;

  std::set<std::string> plain_;              ///< values that a step takes as maps
  std::map<std::string, int64_t> channels_;  ///< of the values in blocks
};

}  // namespace protocom::onnx
