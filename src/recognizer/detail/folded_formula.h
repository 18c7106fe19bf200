#pragma once
#include <optional>

#include "base/matrix.h"
#include "fewshot/answer_formula.h"

namespace protocom {

/// An AnswerFormula without its projection: what is linear in z is one row, and dimensions that all weigh the same need
/// only the length of z. Of y = z - center, so that sums are of small terms and single precision is enough:
///     t_k - shift = y . rows_k + biases_k
///     r = p - shift + (y axes)^2 . squares + length (y . y) + y . row + bias
struct FoldedFormula {
  Eigen::RowVectorXf center;   ///< [d]
  FloatMatrix rows;            ///< [c, d]
  Eigen::VectorXf biases;      ///< [c]
  FloatMatrix axes;            ///< [d, r]; of no columns without familiarity
  Eigen::RowVectorXf squares;  ///< [r]
  Eigen::RowVectorXf row;      ///< [d]
  double length = 0, bias = 0;
};

/// The same answers, of fewer numbers; nothing where there are none. A recognizer of n photos has about n axes, however
/// long its features.
std::optional<FoldedFormula> folded(const AnswerFormula& formula);

}  // namespace protocom
