#pragma once
#include <cstdint>
#include <vector>

#include "fewshot/plda/model.h"

namespace protocom {

/// Returns the space with S0 = (1 - share) I + share c P'P, c = e / tr(P'P), instead of I within classes, where P is
/// its projection: P'P is the image in this space of a multiple of I in the space of z. Images of foreign classes
/// differ in other directions than those the space was fitted on.
PldaSpace with_isotropic_share(const PldaSpace& space, double share);

/// Sets all of the model's factors of log densities.
void set_scale(double scale, PldaModel& model);

/// Returns the model with its space adapted to labelled images of the current classes, whatever classes it was fitted
/// on:
///   center   moves by n / (n + k) of the way to the mean of the n current classes, k = adaptation.center_classes;
///   origin   of class means moves equally far towards the mean of the current ones;
///   scale    the within-class variance is the mean of 1 with adaptation.scale_degrees and of that of the images;
///   within   S = (nu I + R) / (nu + degrees) with nu = adaptation.degrees, or 1/10, 3/10, 3, 10 times that if the
///            images' leave-one-out loss is surely smaller (by more than its standard error); without a fitted space
///            nu is at most 2 d, or 3, 3/10 or 1/10 times that if cross-validation is surely better;
///   between  its diagonal in the space in which S is I;
///   scale of probabilities, also of P(known): by cross-validation; with fewer than four images per class also by the
///            spread of scores for other classes; for a batch, a share of it that grows with the labelled images per
///            class.
/// A model without a space (PldaAdaptation::isotropic) gets one: S0 and the between-class covariance are multiples of
/// I, S has exact eigenvectors, R includes the class means' rows (plda/detail/adapted_axes.h), and features without
/// negative values are replaced by their square roots. That space also replaces a fitted one if there are at least d
/// images more than classes and cross-validation is surely better. Features [m, d], labels [m] in [0, classes), each of
/// which occurs. Without two images of one class only center and origin of a fitted space move. Throws Error for
/// features that are not finite or of another size.
PldaModel adapted(const PldaModel& model, DoubleMatrix features, const std::vector<int64_t>& labels, int64_t classes);

}  // namespace protocom
