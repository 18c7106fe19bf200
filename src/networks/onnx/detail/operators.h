#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "networks/onnx/detail/model.h"

namespace protocom::onnx {

using Tensors = std::vector<at::Tensor>;
using Sizes = std::vector<int64_t>;

/// An operator that is ready to run: from its inputs (undefined: omitted) to its outputs. It may overwrite an input
/// that is not used elsewhere.
using Operation = std::function<Tensors(Tensors& inputs)>;

/// A node with what is known of its inputs before any image: values of constants, and the sizes of the others for one
/// image. Operators with sizes fixed in the graph support more images by comparing with these.
class Binding {
 public:
  Binding(const Node& node, int64_t opset, c10::Device device, Tensors constants, std::vector<Sizes> sizes)
      : node_(node), opset_(opset), device_(device), constants_(std::move(constants)), sizes_(std::move(sizes)) {}
  /// See is_frozen.
  void freeze() { frozen_ = true; }

  [[nodiscard]] int64_t opset() const { return opset_; }
  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] size_t outputs() const { return node_.outputs.size(); }
  [[nodiscard]] size_t inputs() const { return node_.inputs.size(); }
  /// Whether the input exists.
  [[nodiscard]] bool has(size_t input) const { return input < node_.inputs.size() && !node_.inputs[input].empty(); }
  /// Returns the sizes of an input for one image. Throws Error if it is omitted.
  [[nodiscard]] const Sizes& sizes(size_t input) const;
  /// Returns the value of an input, on the processor; undefined if it is omitted or depends on the image.
  [[nodiscard]] at::Tensor constant(size_t input) const;
  /// Returns a constant input on the operator's device. Throws Error if it depends on the image.
  [[nodiscard]] at::Tensor weight(size_t input) const;
  /// Returns the whole numbers of a constant input. Throws Error if it depends on the image, or is of another type.
  [[nodiscard]] Sizes integer_values(size_t input) const;
  [[nodiscard]] std::vector<double> values(size_t input) const;

  [[nodiscard]] bool has_attribute(const char* name) const { return node_.attributes.count(name) > 0; }
  [[nodiscard]] double number(const char* name, double otherwise) const;
  [[nodiscard]] int64_t whole(const char* name, int64_t otherwise) const;
  [[nodiscard]] Sizes integers(const char* name, const Sizes& otherwise) const;
  [[nodiscard]] std::string text(const char* name, const char* otherwise) const;
  /// Returns an attribute in old operator sets, an input in those from `since` on; `otherwise` if there is neither.
  [[nodiscard]] Sizes integers_or_input(const char* name, size_t input, const Sizes& otherwise) const;
  [[nodiscard]] c10::Device device() const { return device_; }
  /// Whether it will run only on the processor and in float32, so that weights may be reordered for it.
  [[nodiscard]] bool is_frozen() const { return frozen_; }

 private:
  const Node& node_;
  int64_t opset_;
  c10::Device device_;
  Tensors constants_;
  std::vector<Sizes> sizes_;
  bool frozen_ = false;
};

/// Makes an operator from a node. Throws Error for unsupported ones.
using Maker = Operation (*)(const Binding& binding);

struct Operator {
  const char* name;
  Maker make;
  size_t inputs = 1;  ///< least number of inputs
};

/// The operators by kind.
const std::vector<Operator>& elementwise_operators();
const std::vector<Operator>& shape_operators();
const std::vector<Operator>& reduction_operators();
const std::vector<Operator>& network_operators();
const std::vector<Operator>& place_operators();
const std::vector<Operator>& quantised_operators();
/// Prefix of operators that `simplify` and `write_out_quantised` insert.
inline constexpr const char* kOwn = "protocom.";
/// A Conv, the Add after it (input 3: the addend) and the activation after that (`activation`: its operator, with
/// `least` and `most` of a Clip), the last two optional.
inline constexpr const char* kConv = "protocom.Conv";
inline constexpr const char* kSilu = "protocom.Silu";
inline constexpr const char* kLinear = "protocom.Linear";
/// A quantised value minus its zero point (input 1; one for each position of `axis`), as float32.
inline constexpr const char* kCentred = "protocom.Centred";

Operation make_conv(const Binding& binding);

/// Returns the maker of a node's operator. Throws Error that names the operator if there is none.
Maker find_maker(const Node& node);
/// Throws Error that names the node unless it has the required inputs of its operator. Accepts unknown operators.
void check_inputs(const Node& node);
/// Does so for an operator that has at least this many.
void check_inputs(const Node& node, size_t least);
/// Returns "Conv 'node'", for messages.
std::string name_of(const Node& node);

/// Throws Error unless a tensor of that shape, which has at most 64 sizes, may be created: a small file must not
/// request all memory.
void check_elements(at::IntArrayRef sizes);
/// Returns the shape to which two broadcast. Throws Error.
Sizes broadcast(at::IntArrayRef a, at::IntArrayRef b);
/// Returns `axis` of `dims`, counted from the end if negative. Throws Error.
int64_t axis_of(int64_t axis, size_t dims);
/// Whether nothing else shares the tensor's memory.
bool is_own(const at::Tensor& tensor);

/// Makes an operator with one output.
template <typename Function>
Operation one_output(Function function) {
  return [function = std::move(function)](Tensors& inputs) { return Tensors{function(inputs)}; };
}

}  // namespace protocom::onnx
