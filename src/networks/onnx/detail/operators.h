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

/// An operator that is ready to run: its inputs (undefined: left out) to its outputs. It may write over an input that
/// nothing else holds.
using Operation = std::function<Tensors(Tensors& inputs)>;

/// A node with what is known of its inputs before any image: values of constants, and the sizes that the others have
/// for one image. Operators whose sizes come with the graph take more images by comparing with these.
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
  /// Whether the input is there.
  [[nodiscard]] bool has(size_t input) const { return input < node_.inputs.size() && !node_.inputs[input].empty(); }
  /// The sizes of an input for one image. Throws Error if it is left out.
  [[nodiscard]] const Sizes& sizes(size_t input) const;
  /// The value of an input, on the processor; undefined if it is left out or depends on the image.
  [[nodiscard]] at::Tensor constant(size_t input) const;
  /// A constant input where the operator runs. Throws Error if it depends on the image.
  [[nodiscard]] at::Tensor weight(size_t input) const;
  /// The whole numbers of a constant input. Throws Error if it depends on the image, or is of another kind.
  [[nodiscard]] Sizes integer_values(size_t input) const;
  [[nodiscard]] std::vector<double> values(size_t input) const;

  [[nodiscard]] bool has_attribute(const char* name) const { return node_.attributes.count(name) > 0; }
  [[nodiscard]] double number(const char* name, double otherwise) const;
  [[nodiscard]] int64_t whole(const char* name, int64_t otherwise) const;
  [[nodiscard]] Sizes integers(const char* name, const Sizes& otherwise) const;
  [[nodiscard]] std::string text(const char* name, const char* otherwise) const;
  /// From an attribute in old operator sets, from an input in those from `since` on; `otherwise` in neither.
  [[nodiscard]] Sizes integers_or_input(const char* name, size_t input, const Sizes& otherwise) const;
  [[nodiscard]] c10::Device device() const { return device_; }
  /// Whether it will run on the processor and in float32 alone, so that weights may be put in the order that suits it.
  [[nodiscard]] bool is_frozen() const { return frozen_; }

 private:
  const Node& node_;
  int64_t opset_;
  c10::Device device_;
  Tensors constants_;
  std::vector<Sizes> sizes_;
  bool frozen_ = false;
};

/// Makes an operator of a node. Throws Error for what it cannot do.
using Maker = Operation (*)(const Binding& binding);

struct Operator {
  const char* name;
  Maker make;
  size_t inputs = 1;  ///< that it has at least
};

/// The operators by what they do.
const std::vector<Operator>& elementwise_operators();
const std::vector<Operator>& shape_operators();
const std::vector<Operator>& reduction_operators();
const std::vector<Operator>& network_operators();
const std::vector<Operator>& place_operators();
const std::vector<Operator>& quantised_operators();
/// How the names begin of what is put in the place of nodes by `simplify` and `write_out_quantised`.
inline constexpr const char* kOwn = "protocom.";
/// A Conv, the Add after it (input 3: what is added) and the activation after that (`activation`: its operator, with
/// `least` and `most` of a Clip), each of which may be missing.
inline constexpr const char* kConv = "protocom.Conv";
inline constexpr const char* kSilu = "protocom.Silu";
inline constexpr const char* kLinear = "protocom.Linear";
/// A quantised value less its zero point (input 1; one for each place of `axis`), as float32.
inline constexpr const char* kCentred = "protocom.Centred";

Operation make_conv(const Binding& binding);

/// Throws Error that names the operator if there is none.
Maker find_maker(const Node& node);
/// Throws Error that names the node unless it has the inputs without which its operator is none. Others than those
/// known pass.
void check_inputs(const Node& node);
/// The same for an operator that has at least this many.
void check_inputs(const Node& node, size_t least);
/// "Conv 'node'", for messages.
std::string name_of(const Node& node);

/// Throws Error unless a tensor of that shape, which has at most 64 sizes, may be made: a small file must not ask for
/// all memory.
void check_elements(at::IntArrayRef sizes);
/// The shape that two broadcast to. Throws Error.
Sizes broadcast(at::IntArrayRef a, at::IntArrayRef b);
/// `axis` of `dims`, counted from the end where negative. Throws Error.
int64_t axis_of(int64_t axis, size_t dims);
/// Whether nothing else shares the tensor's memory.
bool is_own(const at::Tensor& tensor);

/// An operator of one output.
template <typename Function>
Operation one_output(Function function) {
  return [function = std::move(function)](Tensors& inputs) { return Tensors{function(inputs)}; };
}

}  // namespace protocom::onnx
