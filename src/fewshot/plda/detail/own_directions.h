#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/symmetric_eigen.h"
#include "fewshot/plda/detail/directions.h"
#include "fewshot/plda/detail/isotropic.h"

namespace protocom {

/// Which rows are the distinct labelled images, and their classes.
struct LabelledPlaces {
  std::vector<int64_t> rows;   ///< [k]
  std::vector<int64_t> label;  ///< [k]
  int64_t classes = 0;

  /// sum_i w_i x_i over them is the mean of their class means, [k].
  [[nodiscard]] std::vector<double> weights() const;
};

/// Images without a fitted space: as directions z = (x - center) / |x - center|, less the mean of the class means of
/// the labelled ones. Features of which none of the labelled is negative are taken by their roots.
template <typename Matrix>
struct OwnDirections {
  using Number = typename Matrix::Scalar;
  using Row = Eigen::Matrix<Number, 1, Eigen::Dynamic>;

  bool root = false;
  Row center;  ///< [d]
  Row origin;  ///< [d], that mean
  Matrix z;    ///< [all, d], less it

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

/// Rows by coordinates in an orthonormal basis of what the first `m` of them span.
struct SpanCoordinates {
  DoubleMatrix x;        ///< [all, r]
  DoubleVector outside;  ///< [all], squared lengths of what is left
  DoubleMatrix combine;  ///< [m, r]: the basis is the first m rows' combinations; empty: it is that of the rows
};

/// Needs the products of the m rows with all; where those are as many as dimensions the rows are their coordinates.
template <typename Matrix>
SpanCoordinates span_coordinates(const Matrix& rows, int64_t m) {
  // Of the largest squared length along an axis: what the images have along shorter ones is rounding.
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
