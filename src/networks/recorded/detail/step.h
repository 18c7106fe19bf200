#pragma once
#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <string>
#include <vector>

#include "encoders/onnx_graph_writer.h"
#include "networks/recorded/detail/item.h"

namespace protocom::recorded {

/// A recorded operator with its arguments, under their names in LibTorch's schema.
class Step {
 public:
  struct Inputs {
    std::vector<Item> items;                           ///< one per argument
    std::vector<Lengths> sizes;                        ///< for tensors, else empty
    Lengths result;                                    ///< sizes of the first result
    std::function<std::string(const Lengths&)> shape;  ///< names a value int64 [axes] of such sizes
  };
  Step(const torch::jit::Node& node, Inputs inputs, onnx::GraphWriter& graph);

  /// Whether the operator has the argument and it is not None.
  [[nodiscard]] bool has(const char* argument) const;
  /// Returns the name of a tensor in the graph; a known one becomes a constant of float32. A number becomes one of one
  /// value.
  [[nodiscard]] std::string value(const char* argument) const;
  [[nodiscard]] std::vector<std::string> values(const char* argument) const;
  /// Returns a tensor that is independent of the images. Throws Error for others.
  [[nodiscard]] at::Tensor constant(const char* argument) const;
  /// Return plain arguments; `otherwise` if there is none. Throw Error if they depend on the number of images.
  [[nodiscard]] int64_t whole(const char* argument, int64_t otherwise = 0) const;
  [[nodiscard]] double number(const char* argument, double otherwise = 0) const;
  [[nodiscard]] bool truth(const char* argument, bool otherwise = false) const;
  [[nodiscard]] std::vector<int64_t> wholes(const char* argument) const;
  [[nodiscard]] std::string text(const char* argument, const std::string& otherwise) const;
  /// Returns the sizes of a tensor argument.
  [[nodiscard]] const Lengths& sizes(const char* argument) const;
  /// Returns an axis of the argument "self", counted from the front.
  [[nodiscard]] int64_t axis(const char* argument) const;
  [[nodiscard]] const Lengths& result() const { return inputs_.result; }
  /// Return the name of a constant, and of a value int64 [axes] with such sizes.
  [[nodiscard]] std::string constant_of(const at::Tensor& values) const;
  [[nodiscard]] std::string shape(const Lengths& lengths) const { return inputs_.shape(lengths); }
  [[nodiscard]] onnx::GraphWriter& graph() const { return graph_; }

 private:
  [[nodiscard]] const Item* find(const char* argument) const;
  [[nodiscard]] const Item& at(const char* argument) const;
  [[nodiscard]] const Item& fixed(const char* argument) const;
  [[nodiscard]] std::string value_of(const Item& item) const;

  const torch::jit::Node& node_;
  Inputs inputs_;
  onnx::GraphWriter& graph_;
};

/// Writes what an operator computes and returns its name.
using Write = std::string (*)(const Step& step);

/// Returns the writer of LibTorch's operator ("aten::relu"); nullptr: there is none in ONNX, or it is not supported.
Write writer_of(const std::string& name);

}  // namespace protocom::recorded
