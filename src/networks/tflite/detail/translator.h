#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "networks/onnx/detail/model.h"
#include "networks/tflite/detail/tensors.h"

namespace protocom::tflite {

constexpr int64_t kOpset = 13;  // the operator set that is written

enum Activation : int8_t { kNone = 0, kRelu = 1, kRelu1 = 2, kRelu6 = 3, kTanh = 4 };

/// One operator of the file.
struct Operator {
  std::vector<int32_t> inputs, outputs;
  bool has_options = false;
  FlatTable options;  // the operator's own table, empty if it has none
};

/// Builds the ONNX model. Four-dimensional values are [n, c, h, w] there and [n, h, w, c] in the file.
class Translator {
 public:
  /// `most_values`: limit of all operators' constants together.
  Translator(std::vector<Tensor> tensors, size_t most_values)
      : tensors_(std::move(tensors)), values_left_(most_values) {
    model.opset = kOpset;
  }

  onnx::Model model;

  [[nodiscard]] const Tensor& tensor(int32_t number) const {
    if (number < 0 || static_cast<size_t>(number) >= tensors_.size())
      fail("input tensor {} of an operator is out of range: there are {}", number, tensors_.size());
    return tensors_[static_cast<size_t>(number)];
  }
  [[nodiscard]] const Tensor& input(const Operator& item, size_t i) const {
    if (i >= item.inputs.size()) fail("an operator has {} inputs, expected at least {}", item.inputs.size(), i + 1);
    return tensor(item.inputs[i]);
  }
  [[nodiscard]] bool has_input(const Operator& item, size_t i) const {
    return i < item.inputs.size() && item.inputs[i] >= 0;
  }
  [[nodiscard]] const Tensor& output(const Operator& item) const {
    if (item.outputs.size() != 1) fail("an operator has {} outputs, expected one", item.outputs.size());
    return tensor(item.outputs.front());
  }
  [[nodiscard]] static std::string value(const Tensor& tensor) { return tensor.name; }

  /// Returns the name of a constant of the model. Throws Error if operators that share weights, of which each gets its
  /// own, would take too much memory.
  std::string constant(const at::Tensor& values);
  /// Returns a name that does not occur in the file.
  std::string fresh() { return "value " + std::to_string(++fresh_); }

  /// Adds an operator. Throws Error if operators that share inputs have more names than a network needs.
  void add(const char* op, std::vector<std::string> inputs, const std::string& result,
           std::map<std::string, onnx::Attribute> attributes = {});
  /// Adds it with the operations that one operator of TensorFlow includes: the activation, and the range in which a
  /// quantised network keeps its result.
  void add_activated(const char* op, std::vector<std::string> inputs, const Tensor& result, int8_t activation,
                     std::map<std::string, onnx::Attribute> attributes = {});

 private:
  std::vector<Tensor> tensors_;
  size_t values_left_;
  size_t name_bytes_ = 0;  ///< total over the operators' inputs and outputs
  int64_t fresh_ = 0;
};

/// Adds to a model the computation of one operator of the file. Throws if image networks do not have it.
using Translate = std::function<void(Translator&, const Operator&)>;

/// Returns that of a BuiltinOperator; empty: unsupported.
Translate translation_of(int32_t code);

}  // namespace protocom::tflite
