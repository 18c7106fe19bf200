#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/plda/detail/isotropic.h"
#include "fewshot/plda/detail/span_images.h"
#include "fewshot/toolbox/detail/tridiagonal.h"

namespace protocom {

/// The model that some labelled images make and other images that it answers, in axes in which the scatter R is
/// tridiagonal. In units of the within-class variance w,
///     S = (nu I + R) / (nu + degrees)
/// and with b the between-class variance, an image x and a class of K images with the mean m in these units have
///     posterior mean    u = K b (S + K b I)^-1 m
///     precision         P = (S + k b I) (S + (k + 1) b I)^-1,  k the mean of all K
/// along the axes of S, where x and u are still to be multiplied by S^-1/2; and S^-1 P is
///     (k S^-1 + (S + (k + 1) b I)^-1) / (k + 1).
struct SpanModel {
  Isotropic variances;
  std::vector<double> count;  // [n]
  double mean_count = 0;
  double degrees = 0;
  double dims_outside = 0;
  VectorColumns means;   // [r, n], less their mean
  VectorColumns others;  // [r, l], less that mean
  Tridiagonal scatter;

  /// (nu + degrees) (S + shift I)
  [[nodiscard]] ShiftedTridiagonal plus(double shift, double nu) const {
    return scatter.plus(nu + shift * (nu + degrees));
  }
  /// The same of a direction outside the span, less that factor.
  [[nodiscard]] double outside(double shift, double nu) const { return nu / (nu + degrees) + shift; }
};

/// Of the images `among` the columns of x [r, .], to answer the columns `others`. `weight`: class_mean_weight().
SpanModel span_model(const VectorColumns& x, const SpanImages& images, const std::vector<int64_t>& among,
                     const std::vector<int64_t>& others, double weight);

/// Squared distances of the labelled images by which they come into folds as scale_by_folds() has it, [m]: from the
/// means of their classes, those of a class of two from the mean of the class means.
std::vector<double> fold_distances(const VectorColumns& x, const SpanImages& images);

/// Log predictives of the other images, [l, n], but for a number for each image: x' S^-1 P u - 1/2 u' S^-1 P u.
std::vector<double> linear_scores(const SpanModel& model, double nu);

/// What the log predictives of an image add to linear_scores(), and those of a class without images, [l] each, for
/// images of the squared lengths `outside` [l] outside the span.
struct SharedScores {
  std::vector<double> of_classes, never_seen;
};

SharedScores shared_scores(const SpanModel& model, double nu, const std::vector<double>& outside);

}  // namespace protocom
