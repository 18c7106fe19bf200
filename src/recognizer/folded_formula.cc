#include "recognizer/detail/folded_formula.h"

#include <cmath>
#include <random>

namespace protocom {
namespace {

using Row = Eigen::RowVectorXd;

/// Whether the columns [d, e], of unit length, are orthogonal to one another: their products with each other change no
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

/// How many of the last dimensions weigh the same.
int64_t count_alike(const Eigen::RowVectorXf& weights) {
  int64_t alike = 0;
  for (int64_t k = weights.size(); k-- > 0 && weights[k] == weights[weights.size() - 1];) ++alike;
  return alike;
}

/// Sets axes, squares and length such that they give (z projection)^2 . weights. False if that needs all dimensions.
bool fold_squares(const DoubleMatrix& projection, const Eigen::RowVectorXf& weights, FoldedFormula& to) {
  const int64_t d = projection.rows(), kept = weights.size() - count_alike(weights);
  if (projection.cols() != d || kept == d) return false;
  const Row lengths = projection.colwise().norm();
  const double rest = lengths.tail(d - kept).mean();
  if (!(lengths.minCoeff() > 0) || (lengths.tail(d - kept).array() / rest - 1).abs().maxCoeff() > 1e-6) return false;
  if (!are_orthogonal(projection * lengths.cwiseInverse().asDiagonal())) return false;
  // The squares along the rest are those along all, z . z, but for those along the kept.
  to.length = double{weights[d - 1]} * rest * rest;
  to.axes = projection.leftCols(kept).cast<float>();
  to.squares =
      (weights.head(kept).cast<double>().array() - to.length / lengths.head(kept).array().square()).cast<float>();
  return true;
}

}  // namespace

std::optional<FoldedFormula> folded(const AnswerFormula& formula) {
  if (formula.projection.size() == 0) return std::nullopt;
  const DoubleMatrix projection = formula.projection.cast<double>(), rows = formula.rows.cast<double>();
  const int64_t d = projection.rows(), e = projection.cols(), c = rows.rows();
  const Row offset = formula.offset.size() > 0 ? Row(formula.offset.cast<double>()) : Row::Zero(e);
  FoldedFormula made;
  made.axes.resize(d, 0);
  if (formula.familiarity) {
    const FamiliarityFormula& known = *formula.familiarity;
    if (!fold_squares(projection, known.squares, made)) return std::nullopt;
    const Row squares = known.squares.cast<double>(), row = known.row.cast<double>();
    made.row = ((row - 2 * squares.cwiseProduct(offset)) * projection.transpose()).cast<float>();
    made.bias = known.bias + squares.dot(offset.cwiseAbs2()) - row.dot(offset);
  }
  if (c * d + made.axes.size() >= projection.size() + c * e) return std::nullopt;
  made.rows = (rows * projection.transpose()).cast<float>();
  Eigen::VectorXd biases = -(rows * offset.transpose());
  if (formula.biases.size() > 0) biases += formula.biases.cast<double>();
  made.biases = biases.cast<float>();
  return made;
}

}  // namespace protocom
