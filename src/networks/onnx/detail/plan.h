#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "networks/onnx/detail/model.h"
#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// A network prepared for images of one size on one device: operators are bound to ATen's, and everything that depends
/// only on sizes is computed.
class Plan {
 public:
  enum class Use {
    kAny,    ///< on any device, in any precision
    kFrozen  ///< on the processor and in float32: weights are reordered for it
  };
  /// Runs the model once on `input`, one image in the graph's layout. Throws Error that names the node.
  Plan(const Model& model, const std::string& output, const at::Tensor& input, Use use);

  /// Returns the output for one image or several, with the sizes for one except that one of them is a multiple. Throws
  /// Error if the graph takes only one image.
  [[nodiscard]] at::Tensor run(const at::Tensor& input) const;
  /// The output of the first run.
  [[nodiscard]] const at::Tensor& first() const { return first_; }

 private:
  /// One operator; values are referred to by number.
  struct Step {
    Operation run;
    std::vector<size_t> inputs;   // kNone: omitted
    std::vector<bool> last;       // whether no later step uses that input
    std::vector<size_t> outputs;  // kNone: unused
    std::string what;             // "Conv 'node'"
  };
  class Maker;

  std::vector<Step> steps_;
  std::vector<at::Tensor> constants_;  // by value number; undefined: depends on the image
  size_t input_ = 0;
  size_t output_ = 0;
  at::Tensor first_;
};

}  // namespace protocom::onnx
