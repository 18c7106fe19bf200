#pragma once
#include <cstdint>
#include <optional>

#include "base/matrix.h"
#include "fewshot/prepared_method.h"

namespace protocom {

/// How a method decides whether an image is of one of its classes:
///     p = max_k t_k, or p = (log mean_k exp(factor t_k)) / factor
///     r = p + f^2 . squares + f . row + bias
///     familiarity = -log(alike + exp(-(slope r + offset)))
/// with f and t of AnswerFormula. This is log_odds_of_none (plda/detail/known.h) of the ratio to an unseen class.
struct FamiliarityFormula {
  bool by_best = true;              ///< the first form of p
  double factor = 1;                ///< for the second form
  Eigen::RowVectorXf squares = {};  ///< [e]
  Eigen::RowVectorXf row = {};      ///< [e]
  double bias = 0;
  double slope = 1;
  double offset = 0;
  double alike = 0;
};

/// A method's answer for a single feature x [d], as a formula:
///     z = u / max(|u|, 1e-12) with u = x - center, or sign(x) sqrt |x| in place of x if it takes roots
///     f = z projection - offset                                      [e]
///     t_k = f . rows_k + biases_k
///     logit_k = scale t_k + texts_k . x / max(|x|, 1e-12)
struct AnswerFormula {
  bool roots = false;
  Eigen::RowVectorXf center = {};  ///< [d]; empty: 0
  FloatMatrix projection = {};     ///< [d, e]; empty: f = z
  Eigen::RowVectorXf offset = {};  ///< [e]; empty: 0
  FloatMatrix rows = {};           ///< [c, e]
  Eigen::VectorXf biases = {};     ///< [c]; empty: 0
  double scale = 1;
  FloatMatrix texts = {};                              ///< [c, d], multiplied by their weight; empty: none
  std::optional<FamiliarityFormula> familiarity = {};  ///< empty: the highest logit
};

/// A ClassPlacer whose answers have such a formula.
class PlacedFormula {
 public:
  PlacedFormula() = default;
  virtual ~PlacedFormula() = default;
  PlacedFormula(const PlacedFormula&) = delete;
  PlacedFormula& operator=(const PlacedFormula&) = delete;
  /// Returns the formula of ClassPlacer::score for features of `width` numbers.
  [[nodiscard]] virtual AnswerFormula formula(const PlacedClasses& classes, int64_t width) const = 0;
};

/// A TaskRun whose answers may have a formula.
class TaskFormula {
 public:
  TaskFormula() = default;
  virtual ~TaskFormula() = default;
  TaskFormula(const TaskFormula&) = delete;
  TaskFormula& operator=(const TaskFormula&) = delete;
  /// Returns the formula of TaskRun::answer, given these labelled images; nothing if there is none.
  [[nodiscard]] virtual std::optional<AnswerFormula> formula(const TaskImages& images) const = 0;
};

}  // namespace protocom
