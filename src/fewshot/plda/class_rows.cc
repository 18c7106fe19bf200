#include "fewshot/plda/detail/class_rows.h"

namespace protocom {

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

DoubleMatrix within_rows(const ClassRows& rows) { return rows.x - rows.means()(rows.label, Eigen::all); }

DoubleMatrix between_rows(const ClassRows& rows, double between) {
  DoubleMatrix means = rows.means();
  means.rowwise() -= means.colwise().mean().eval();
  return (between + rows.count().array().inverse()).rsqrt().matrix().asDiagonal() * means;
}

}  // namespace protocom
