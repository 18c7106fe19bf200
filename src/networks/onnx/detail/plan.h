#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "networks/onnx/detail/model.h"
#include "networks/onnx/detail/operators.h"

namespace protocom::onnx {

/// A network made ready for images of one size on one device: operators are bound to ATen's, and what depends on sizes
/// alone is computed.
class Plan {
 public:
  enum class Use {
    kAny,    ///< on any device, in any precision
    kFrozen  ///< on the processor and in float32: weights are brought into its order
  };
  /// Runs the model once on `input`, one image as the graph takes it. Throws Error that names the node.
  Plan(const Model& model, const std::string& output, const at::Tensor& input, Use use);

  /// The output for one image or several: of the sizes of one, one of them as many times as long. Throws Error if
  /// the graph takes one image only.
  [[nodiscard]] at::Tensor run(const at::Tensor& input) const;
  /// The output of the first run.
  [[nodiscard]] const at::Tensor& first() const { return first_; }

 private:
  /// One operator; values are numbered.
  struct Step {
    Operation run;
    std::vector<size_t> inputs;   // kNone: left out
    std::vector<bool> last;       // no later step takes that input
    std::vector<size_t> outputs;  // kNone: unused
    std::string what;             // "Conv 'node'"
  };
  class Maker;

  std::vector<Step> steps_;
  std::vector<at::Tensor> constants_;  // by the number of the value; undefined: depends on the image
  size_t input_ = 0;
  size_t output_ = 0;
  at::Tensor first_;
};

}  // namespace protocom::onnx
