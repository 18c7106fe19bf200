#pragma once
#include <functional>
#include <memory>

#include "base/matrix.h"
#include "fewshot/feature_transform.h"
#include "fewshot/prepared_method.h"
#include "fewshot/task.h"

namespace protocom {

/// Logits of a row x that are linear in it but for its squared length: w_k . x + b_k + c |x|^2. All that some methods
/// learn of a task's labelled images, however many these are.
struct LinearScores {
  DoubleMatrix weights;  ///< w, [n, width]
  DoubleVector biases;   ///< b, [n]
  double squares = 0;    ///< c
};

/// -sharpness |x - p_k|^2 of the class means p.
LinearScores distances_to_means(const Task& task, double sharpness);

/// Places the classes of a method whose logits in a space (null: of features as they are) are linear, as one array
/// [n, width + 2]: w_k, b_k, c. `learn` is given tasks without queries.
std::shared_ptr<const ClassPlacer> linear_placer(std::shared_ptr<const FeatureTransform> space,
                                                 std::function<LinearScores(const Task& task)> learn);

}  // namespace protocom
