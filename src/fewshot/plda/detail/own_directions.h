#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/symmetric_eigen.h"
#include "fewshot/plda/detail/directions.h"
#include "fewshot/plda/detail/isotropic.h"

namespace protocom {

/// The rows of the distinct labelled images, and their classes.
struct LabelledPlaces {
  std::vector<int64_t> rows;   ///< [k]
  std::vector<int64_t> label;  ///< [k]
  int64_t classes = 0;

  /// Returns w [k] such that sum_i w_i x_i over them is the mean of their class means.
  [[nodiscard]] std::vector<double> weights() const;
};

/// Images without a fitted space: directions z = (x - center) / |x - center|, minus the mean of the class means of the
/// labelled ones. Features are replaced by their roots if no labelled one is negative.
template <typename Matrix>
struct OwnDirections {
  using Number = typename Matrix::Scalar;
  using Row = Eigen::Matrix<Number, 1, Eigen::Dynamic>;

  bool root = false;
  Row center;  ///< [d]
  Row origin;  ///< [d], that mean of class means
  Matrix z;    ///< [all, d], minus the origin

  OwnDirections(Matrix features, const LabelledPlaces& labelled, const PldaAdaptation& adaptation)
      : z(std::move(features)) {
    root = std::all_of(labelled.rows.begin(), labelled.rows.end(), [&](int64_t i) { return z.row(i).minCoeff() >= 0; });
    if (root) take_roots(z);
    const auto share = static_cast<Number>(isotropic_center_share(adaptation, labelled.classes, root));
    center = share * mean_of_class_means(labelled);
    take_directions(z, center);
    origin = mean_of_class_means(labelled);
    z.rowwise() -= origin;
  }

 private:
  [[nodiscard]] Row mean_of_class_means(const LabelledPlaces& labelled) const {
    const std::vector<double> weights = labelled.weights();
    Row mean = Row::Zero(z.cols());
    for (size_t i = 0; i < weights.size(); ++i) mean += static_cast<Number>(weights[i]) * z.row(labelled.rows[i]);
    return mean;
  }
};

/// Rows in coordinates of an orthonormal basis of the span of the first `m` rows.
struct SpanCoordinates {
  DoubleMatrix x;        ///< [all, r]
  DoubleVector outside;  ///< [all], squared lengths of the components outside the span
  DoubleMatrix combine;  ///< [m, r]: the basis consists of combinations of the first m rows; empty: the rows' own basis
};

/// Computes the products of the m rows with all rows; if m is at least the number of dimensions, the rows are their own
/// coordinates.
template <typename Matrix>
SpanCoordinates span_coordinates(const Matrix& rows, int64_t m) {
  // Relative to the largest squared length along an axis: components along shorter axes are rounding errors.
  constexpr double kLeast = sizeof(typename Matrix::Scalar) == sizeof(float) ? 1e-6 : 1e-10;
  if (m >= rows.cols()) return {rows.template cast<double>(), DoubleVector::Zero(rows.rows()), {}};
  const Matrix products = rows * rows.topRows(m).transpose();  // [all, m]
  const EigenRows eigen = eigen_rows(products.topRows(m).template cast<double>());
  const double least = m > 0 ? std::max(kLeast * eigen.values[m - 1], 0.0) : 0;
  const int64_t rank = (eigen.values.array() > least).count();
  SpanCoordinates span;
  span.combine =
      eigen.vectors.bottomRows(rank).transpose() * eigen.values.tail(rank).cwiseSqrt().cwiseInverse().asDiagonal();
  span.x = products.template cast<double>() * span.combine;
  const DoubleVector squares = rows.rowwise().squaredNorm().template cast<double>();
  span.outside = (squares - span.x.rowwise().squaredNorm()).cwiseMax(0);
  return span;
}

}  // namespace protocom
