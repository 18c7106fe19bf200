#pragma once
#include <optional>

#include "base/matrix.h"
#include "fewshot/answer_formula.h"

namespace protocom {

/// An AnswerFormula without its projection: terms linear in z become one row, and dimensions of equal weight need only
/// the length of z. It is in terms of y = z - center, so that sums are of small terms and single precision suffices:
///     t_k - shift = y . rows_k + biases_k
///     r = p - shift + (y axes)^2 . squares + length (y . y) + y . row + bias
struct FoldedFormula {
  Eigen::RowVectorXf center;   ///< [d]
  FloatMatrix rows;            ///< [c, d]
  Eigen::VectorXf biases;      ///< [c]
  FloatMatrix axes;            ///< [d, r]; without familiarity, no columns
  Eigen::RowVectorXf squares;  ///< [r]
  Eigen::RowVectorXf row;      ///< [d]
  double length = 0, bias = 0;
};

/// Folds a formula into one with the same answers and fewer numbers; nothing if that has more. A recognizer of n photos
/// has about n axes, whatever the dimension of its features.
std::optional<FoldedFormula> folded(const AnswerFormula& formula);

}  // namespace protocom
