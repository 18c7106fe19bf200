#include "fewshot/plda/detail/class_rows.h"

namespace protocom {
namespace {

/// Number of rows summed at once in single precision, which keeps the error near 1e-6, like that of the features.
constexpr int64_t kRowsOfPiece = 2048;

/// Adds the rows `which` of `rows`, times `sign`.
void add_rows(const ClassRows& rows, const std::vector<int64_t>& which, double sign, ClassMoments& sums) {
  const int64_t e = rows.x.cols();
  FloatMatrix square(e, e);
  for (size_t at = 0; at < which.size(); at += kRowsOfPiece) {
    const size_t count = std::min(which.size() - at, static_cast<size_t>(kRowsOfPiece));
    FloatMatrix piece(static_cast<int64_t>(count), e);
    for (size_t i = 0; i < count; ++i) {
      const int64_t own = rows.label[static_cast<size_t>(which[at + i])];
      const Eigen::RowVectorXd deviation = rows.x.row(which[at + i]) - sums.middle.row(own);
      sums.count[own] += sign;
      sums.sum.row(own) += sign * deviation;
      piece.row(static_cast<int64_t>(i)) = deviation.cast<float>();
    }
    square.setZero();
    square.selfadjointView<Eigen::Lower>().rankUpdate(piece.transpose());
    sums.squares += sign * square.cast<double>();
  }
  sums.squares.triangularView<Eigen::StrictlyUpper>() = sums.squares.transpose();
}

}  // namespace

DoubleVector ClassRows::count() const {
  DoubleVector count = DoubleVector::Zero(classes);
  for (const int64_t own : label) count[own] += 1;
  return count;
}

DoubleMatrix ClassRows::sums() const {
  DoubleMatrix sums = DoubleMatrix::Zero(classes, x.cols());
  for (int64_t i = 0; i < images(); ++i) sums.row(label[static_cast<size_t>(i)]) += x.row(i);
  return sums;
}

DoubleMatrix ClassRows::means() const { return count().cwiseInverse().asDiagonal() * sums(); }

ClassRows ClassRows::of(const std::vector<int64_t>& which) const {
  ClassRows some{x(which, Eigen::all), {}, classes};
  for (const int64_t i : which) some.label.push_back(label[static_cast<size_t>(i)]);
  return some;
}

ClassMoments ClassMoments::of(const ClassRows& rows) {
  const int64_t e = rows.x.cols();
  ClassMoments sums{rows.means(), DoubleVector::Zero(rows.classes), DoubleMatrix::Zero(rows.classes, e),
                    DoubleMatrix::Zero(e, e)};
  std::vector<int64_t> all(rows.label.size());
  std::iota(all.begin(), all.end(), 0);
  add_rows(rows, all, 1, sums);
  return sums;
}

ClassMoments ClassMoments::without(const ClassRows& rows, const std::vector<int64_t>& which) const {
  ClassMoments rest = *this;
  add_rows(rows, which, -1, rest);
  return rest;
}

DoubleMatrix ClassMoments::means() const { return middle + count.cwiseInverse().asDiagonal() * sum; }

DoubleMatrix ClassMoments::within() const {
  if (count.maxCoeff() < 2) return DoubleMatrix::Zero(squares.rows(), squares.cols());  // less rounding
  const DoubleMatrix moved = count.cwiseSqrt().cwiseInverse().asDiagonal() * sum;
  DoubleMatrix scatter = squares;
  scatter.noalias() -= moved.transpose() * moved;
  return scatter;
}

DoubleMatrix within_rows(const ClassRows& rows) { return rows.x - rows.means()(rows.label, Eigen::all); }

DoubleMatrix between_rows(const DoubleVector& count, DoubleMatrix means, double between) {
  means.rowwise() -= means.colwise().mean().eval();
  return (between + count.array().inverse()).rsqrt().matrix().asDiagonal() * means;
}

}  // namespace protocom
