#include "recognizer/detail/folded_formula.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace protocom {
namespace {

using Row = Eigen::RowVectorXd;

/// Whether the columns [d, e], of unit length, are mutually orthogonal: their products with one another change no
/// vector.
bool are_orthogonal(const DoubleMatrix& columns) {
  constexpr double kRounding = 1e-6;  // of columns in single precision
  constexpr int kVectors = 8;
  std::mt19937 draw(1);
  DoubleMatrix signs(columns.cols(), kVectors);
  for (int64_t i = 0; i < signs.size(); ++i) signs.data()[i] = (draw() & 1U) != 0 ? 1 : -1;
  const DoubleMatrix mixed = columns * signs;
  return (columns.transpose() * mixed - signs).cwiseAbs().maxCoeff() < kRounding;
}

/// Returns how many of the last dimensions have the same weight.
int64_t count_alike(const Eigen::RowVectorXf& weights) {
  int64_t alike = 0;
  for (int64_t k = weights.size(); k-- > 0 && weights[k] == weights[weights.size() - 1];) ++alike;
  return alike;
}

/// Sets axes, squares and length such that they give (y projection)^2 . weights. Returns false if that needs all
/// dimensions. `lengths`: of the columns.
bool fold_squares(const DoubleMatrix& projection, const Row& lengths, const Eigen::RowVectorXf& weights,
                  FoldedFormula& to) {
  const int64_t d = projection.rows(), kept = weights.size() - count_alike(weights);
  if (projection.cols() != d || kept == d) return false;
  const double rest = lengths.tail(d - kept).mean();
  if (!(lengths.minCoeff() > 0) || (lengths.tail(d - kept).array() / rest - 1).abs().maxCoeff() > 1e-6) return false;
  if (!are_orthogonal(projection * lengths.cwiseInverse().asDiagonal())) return false;
  // The squares along the rest are those along all, y . y, minus those along the kept ones.
  to.length = double{weights[d - 1]} * rest * rest;
  to.axes = projection.leftCols(kept).cast<float>();
  to.squares =
      (weights.head(kept).cast<double>().array() - to.length / lengths.head(kept).array().square()).cast<float>();
  return true;
}

/// Returns a center: a vector in the direction of the class means, with dimensions proportional to `dims`. Images lie
/// near it if classes differ little, and sums over values near it round less; any other vector would be correct too.
Row middle_of(const DoubleMatrix& projection, const Row& lengths, const Row& dims) {
  constexpr double kLeast = 1e-30;
  const Row middle = (dims.array() / lengths.array().square().max(kLeast)).matrix() * projection.transpose();
  return middle / std::max(middle.norm(), kLeast);
}

}  // namespace

std::optional<FoldedFormula> folded(const AnswerFormula& formula) {
  if (formula.projection.size() == 0) return std::nullopt;
  const DoubleMatrix projection = formula.projection.cast<double>(), rows = formula.rows.cast<double>();
  const int64_t d = projection.rows(), e = projection.cols(), c = rows.rows();
  const Row lengths = projection.colwise().norm();
  const Row offset = formula.offset.size() > 0 ? Row(formula.offset.cast<double>()) : Row::Zero(e);
  FoldedFormula made;
  made.axes.resize(d, 0);
  if (formula.familiarity && !fold_squares(projection, lengths, formula.familiarity->squares, made))
    return std::nullopt;
  if (c * d + made.axes.size() >= projection.size() + c * e) return std::nullopt;
  made.center = middle_of(projection, lengths, offset + rows.colwise().mean()).cast<float>();
  const Row f = made.center.cast<double>() * projection - offset;  // at the center
  Eigen::VectorXd biases = rows * f.transpose();
  if (formula.biases.size() > 0) biases += formula.biases.cast<double>();
  const double shift = formula.familiarity ? biases.mean() : 0;  // else familiarity is the highest logit
  made.rows = (rows * projection.transpose()).cast<float>();
  made.biases = (biases.array() - shift).cast<float>();
  if (formula.familiarity) {
    const FamiliarityFormula& known = *formula.familiarity;
    const Row squares = known.squares.cast<double>(), row = known.row.cast<double>();
    made.row = ((row + 2 * squares.cwiseProduct(f)) * projection.transpose()).cast<float>();
    made.bias = known.bias + squares.dot(f.cwiseAbs2()) + row.dot(f) + shift;
  }
  return made;
}

}  // namespace protocom
