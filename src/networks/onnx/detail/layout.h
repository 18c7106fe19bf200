#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <string>

#include "networks/onnx/detail/model.h"
#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// Decides which values of a network are in blocks of channels (blocks.h): results of convolutions, and values derived
/// from them, as long as all users accept blocks. Elsewhere blocks are converted to maps.
class Layout {
 public:
  Layout(const Model& model, const std::string& output);

  /// Returns the operator of a node, for inputs and output in their layouts. Call it in the order of the nodes.
  Operation operation(const Binding& binding);
  /// Returns the sizes of the maps of a value in its layout.
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
  std::map<std::string, int64_t> channels_;  ///< channels of values in blocks
};

}  // namespace protocom::onnx
