#pragma once
#include <functional>
#include <memory>

#include "base/matrix.h"
#include "fewshot/feature_transform.h"
#include "fewshot/prepared_method.h"
#include "fewshot/task.h"

namespace protocom {

/// Logits of a row x that are linear in it but for its squared length: w_k . x + b_k + c |x|^2. Some methods learn only
/// this from a task's labelled images, however many there are.
struct LinearScores {
  DoubleMatrix weights;  ///< w, [n, width]
  DoubleVector biases;   ///< b, [n]
  double squares = 0;    ///< c
};

/// Returns -sharpness |x - p_k|^2 of the class means p.
LinearScores distances_to_means(const Task& task, double sharpness);

/// Returns the placer of a method whose logits in a space (null: of raw features) are linear. It places classes as one
/// array [n, width + 2]: w_k, b_k, c. `learn` is given tasks without queries.
std::shared_ptr<const ClassPlacer> linear_placer(std::shared_ptr<const FeatureTransform> space,
                                                 std::function<LinearScores(const Task& task)> learn);

}  // namespace protocom
