#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "protocom/fewshot/plda/model.h"

namespace protocom {

/// What labelled images say of how images of one class differ: R = sum (x - mean of its class)(x - mean of its class)',
/// which has rank r <= images - classes, by its eigenvectors.
struct WithinScatter {
  at::Tensor directions;   ///< U, float64 [e, r], orthonormal
  at::Tensor eigenvalues;  ///< of R, float64 [r], above 0
  double degrees = 0;      ///< images less classes; 0: R is 0
};

/// Of x float64 [m, e] with labels int64 [m] in [0, classes), each of which occurs. Needs the m x m or the e x e
/// products, whichever are fewer.
WithinScatter within_scatter(const at::Tensor& x, const at::Tensor& labels, int64_t classes);

/// The linear map that gives the within-class covariance S the unit of length: S = (nu I + R) / (nu + degrees), the
/// posterior mean of an inverse Wishart prior with mean I and `nu` degrees. W = S^-1/2 = base I + U diag(gain) U'.
struct WithinWhitening {
  at::Tensor directions;  ///< U, float64 [e, r]
  at::Tensor gain;        ///< float64 [r]
  double base = 1;

  /// x W of rows [m, e].
  [[nodiscard]] at::Tensor apply(const at::Tensor& x) const;
  /// diag(W diag(variance) W), float64 [e]: what is left of a diagonal covariance. What is off the diagonal is dropped:
  /// keeping it is no better on held-out classes (docs/methods/plda.md) and costs e x e work for each episode.
  [[nodiscard]] at::Tensor apply_to_variance(const at::Tensor& variance) const;
};

/// `nu` above 0.
WithinWhitening whitening_of(const WithinScatter& scatter, double nu);

/// The model with its space adapted to labelled images of the classes at hand, whatever classes it was fitted on:
///   center   moves by n / (n + k) of the way to the mean of the n classes at hand, k = adaptation.center_classes;
///   scale    the within-class variance is the mean of 1 with adaptation.scale_degrees and of that of the images;
///   within   S = (nu I + R) / (nu + degrees) with nu = adaptation.degrees;
///   between  its diagonal in the space in which S is I.
/// A model without a space (PldaAdaptation::kIsotropic) gets one: S0 and the between-class covariance are multiples of I,
/// and S has exact eigenvectors. Features [m, d] of any float type, labels int64 [m] in [0, classes), each of which
/// occurs. Without two images of one class only the center moves. The model's probabilities stay as they are. Throws
/// Error for features that are not finite or of another size.
PldaModel adapted(const PldaModel& model, const at::Tensor& features, const at::Tensor& labels, int64_t classes);

}  // namespace protocom
