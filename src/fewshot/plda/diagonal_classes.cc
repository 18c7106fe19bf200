#include "fewshot/plda/detail/diagonal_classes.h"

#include <cmath>

#include "fewshot/toolbox/detail/gaussian.h"

namespace protocom {

DoubleVector log_densities_around_zero(const DiagonalSpace& space, const PlacedImages& images) {
  const DoubleVector precision = (1 + space.between.array()).inverse();
  const double volume = space.between.array().log1p().sum() + space.rest_dims * std::log1p(space.rest_between);
  const double constant = volume + (static_cast<double>(precision.size()) + space.rest_dims) * kLogTwoPi;
  DoubleVector squares = images.rest / (1 + space.rest_between);
  // BLAS rejects a product without dimensions, as for a single image.
  if (precision.size() > 0) squares += images.x.cwiseAbs2() * precision;
  return -0.5 * (squares.array() + constant);
}

DiagonalClasses::DiagonalClasses(const DiagonalSpace& space, const DoubleVector& count, const DoubleMatrix& sum)
    : variance_(space) {
  const double images = count.mean();
  variance_.between = space.between.array() / (1 + images * space.between.array());
  variance_.rest_between = space.rest_between / (1 + images * space.rest_between);
  DoubleMatrix means = sum;
  for (int64_t c = 0; c < count.size(); ++c)
    means.row(c).array() *= (space.between.array() / (1 + count[c] * space.between.array())).transpose();
  weighted_ = means * (1 + variance_.between.array()).inverse().matrix().asDiagonal();
  half_ = 0.5 * weighted_.cwiseProduct(means).rowwise().sum();
}

DoubleMatrix DiagonalClasses::linear_scores(const DoubleMatrix& x) const {
  DoubleMatrix scores = x * weighted_.transpose();
  scores.rowwise() -= half_.transpose();
  return scores;
}

DoubleMatrix DiagonalClasses::log_predictives(const PlacedImages& images) const {
  DoubleMatrix scores = linear_scores(images.x);
  scores.colwise() += log_densities_around_zero(variance_, images);
  return scores;
}

}  // namespace protocom
