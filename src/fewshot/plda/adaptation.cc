#include "fewshot/plda/detail/adaptation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/symmetric_eigen.h"
#include "fewshot/plda/detail/adapted_axes.h"
#include "fewshot/plda/detail/batch_scale.h"
#include "fewshot/plda/detail/directions.h"
#include "fewshot/plda/detail/own_directions.h"
#include "fewshot/toolbox/detail/complete_basis.h"

// A model's space adapted to the labelled images of a task (adapted):
//   1. Check the features and drop copies of images, which do not show how images of a class differ (distinct_images).
//   2. With a fitted space (space_after_images):
//      a. Move its center towards the mean of the class means, and transform the images.
//      b. Estimate the variances of class means between the classes at hand (between_at_hand).
//      c. Estimate origin and within-class covariance S; choose the degrees of S and, where images can be held out, the
//         scale of probabilities (fitted_space).
//      d. Compose projection, offset and variances with the map to the space in which S is I.
//   3. Without one (space_of_images):
//      a. Roots of nonnegative features, center, unit length, minus the mean of the class means (OwnDirections).
//      b. Coordinates in the span of the images, if it is smaller than the whole space (span_coordinates).
//      c. As 2b and 2c, with S0 and the covariance of class means as multiples of I (isotropic_space).
//      d. Map the axes back to d dimensions and complete them to a basis (AdaptedAxes::complete).
//   4. With a fitted space and at least d images more than classes: take the space of step 3 instead, if it is better
//      in cross-validation by more than the standard error (is_surely_better).
//   5. The model takes the space, without its knowledge, and the scale, if one was found; the scale of a batch is a
//      share of it that grows with the labelled images per class (batch_trust).
namespace protocom {
namespace {

/// A space as a model stores it, with facts about it.
struct AdaptedModelSpace {
  PldaSpace space;
  AdaptedSpace found;
  std::string chosen;  // PldaModel::chosen
};

std::string center_text(double share) {
  return share > 0 ? fmt::format("centred by {:.0f} % of their mean", 100 * share) : "not centred";
}

/// Describes in words how a space of images alone was made.
std::string own_text(const AdaptedModelSpace& made, const ClassRows& images, const PldaAdaptation& adaptation) {
  const double weight = class_mean_weight(adaptation, images.images(), images.classes);
  const double share = isotropic_center_share(adaptation, images.classes, made.space.root);
  return fmt::format("from the labelled images: nu {:g}, class means counted {:g} times, {}, {}", made.found.nu, weight,
                     made.space.root ? "square roots of the features" : "features as they are", center_text(share));
}

/// Makes a space from distinct images [m, d] alone.
AdaptedModelSpace space_of_images(ClassRows images, const PldaAdaptation& adaptation, LeftOut which) {
  const int64_t d = images.x.cols(), count = images.images();
  LabelledPlaces labelled{std::vector<int64_t>(images.label.size()), images.label, images.classes};
  std::iota(labelled.rows.begin(), labelled.rows.end(), 0);
  OwnDirections<DoubleMatrix> directions(std::move(images.x), labelled, adaptation);
  SpanCoordinates span;
  if (count < d) span = span_coordinates(directions.z, count);
  images.x = count < d ? std::move(span.x) : std::move(directions.z);
  AdaptedModelSpace result;
  result.found = isotropic_space(images, static_cast<double>(d), adaptation, which);
  AdaptedAxes& axes = result.found.axes;
  DoubleVector origin = directions.origin;
  if (span.combine.rows() > 0) {
    const DoubleMatrix basis = directions.z.transpose() * span.combine;  // [d, r]
    axes.whitening.directions = basis * axes.whitening.directions;
    if (axes.origin.size() > 0) origin += basis * axes.origin;  // BLAS rejects a product without elements
  } else {
    origin += axes.origin;
  }
  const int64_t rank = axes.whitening.along.size();
  const AdaptedAxes all = axes.complete();
  DoubleMatrix projection = all.whitening.directions * all.whitening.along.asDiagonal();
  PldaSpace& space = result.space;
  space.root = directions.root;
  space.center = directions.center.transpose();
  space.offset = projection.transpose() * origin;
  space.projection = std::move(projection);
  space.between = all.space.between;
  space.leading = std::max<int64_t>(rank, 1);
  result.chosen = own_text(result, images, adaptation);
  return result;
}

/// Adapts a fitted space to distinct images [m, d].
AdaptedModelSpace space_after_images(const PldaSpace& fitted, const ClassRows& images,
                                     const PldaAdaptation& adaptation) {
  ClassRows rooted = images;
  if (fitted.root) take_roots(rooted.x);
  const DoubleVector center = rooted.means().colwise().mean();
  AdaptedModelSpace result;
  PldaSpace& space = result.space;
  space = fitted;
  space.center += center_share(adaptation, images.classes) * (center - fitted.center);
  const ClassRows f{space.transform(images.x), images.label, images.classes};
  result.found = fitted_space(f, between_at_hand(f, fitted.between, fitted.leading, adaptation), adaptation);
  const AdaptedAxes& axes = result.found.axes;
  const DoubleMatrix offset = (fitted.offset + axes.origin).transpose();
  space.projection = axes.whitening.apply(fitted.projection);
  space.offset = axes.whitening.apply(offset).transpose();
  space.between = axes.space.between;
  result.chosen = fmt::format("fitted on other classes: nu {:g}, moved by {:.0f} % to the mean of the labelled images",
                              result.found.nu, 100 * center_share(adaptation, images.classes));
  return result;
}

/// Returns the adapted fitted space, or a space of the images alone if they are as many as the dimensions and it is
/// surely better.
AdaptedModelSpace adapted_space(const PldaModel& model, ClassRows images) {
  if (model.adaptation.isotropic) return space_of_images(std::move(images), model.adaptation, LeftOut::kEnough);
  AdaptedModelSpace fitted = space_after_images(model.space, images, model.adaptation);
  if (!fitted.found.left_out || images.images() - images.classes < images.x.cols()) return fitted;
  AdaptedModelSpace alone = space_of_images(std::move(images), model.adaptation, LeftOut::kAll);
  return is_surely_better(alone.found, fitted.found) ? alone : fitted;
}

void check_images(const PldaModel& model, const DoubleMatrix& features) {
  if (!model.adaptation.isotropic && features.cols() != model.space.center.size())
    fail("features: expected [n, {}], found [{}, {}]", model.space.center.size(), features.rows(), features.cols());
  if (!std::isfinite(features.sum())) fail("a feature is not finite: check the program that made the features");
}

/// Drops copies of images, which do not show how images of a class differ.
ClassRows distinct_images(DoubleMatrix features, const std::vector<int64_t>& labels, int64_t classes) {
  ClassRows all{std::move(features), labels, classes};
  std::vector<const double*> rows;
  for (int64_t i = 0; i < all.images(); ++i) rows.push_back(all.x.row(i).data());
  const std::vector<int64_t> distinct = distinct_rows(rows, all.label, all.x.cols());
  return distinct.size() == rows.size() ? std::move(all) : all.of(distinct);
}

}  // namespace

PldaSpace with_isotropic_share(const PldaSpace& space, double share) {
  const DoubleMatrix isotropic = space.projection.transpose() * space.projection;
  const double unit = static_cast<double>(space.projection.cols()) / isotropic.trace();
  DoubleMatrix within = share * unit * isotropic;
  within.diagonal().array() += 1 - share;
  const EigenRows eigen = eigen_rows(within);
  const DoubleMatrix root =
      eigen.vectors.transpose() * eigen.values.cwiseSqrt().cwiseInverse().asDiagonal() * eigen.vectors;
  PldaSpace result = space;
  result.projection = space.projection * root;
  result.offset = root * space.offset;
  result.between = root.cwiseAbs2() * space.between;
  return result;
}

void set_scale(double scale, PldaModel& model) {
  for (ByShots* shots : {&model.inductive_scale, &model.transductive_scale, &model.known_slope})
    *shots = {scale, scale, scale};
}

PldaModel adapted(const PldaModel& model, DoubleMatrix features, const std::vector<int64_t>& labels, int64_t classes) {
  check_images(model, features);
  ClassRows images = distinct_images(std::move(features), labels, classes);
  const double shots = images.count().mean();
  PldaModel result = model;
  const AdaptedModelSpace made = adapted_space(model, std::move(images));
  result.space = made.space;
  result.residual = result.space.between;
  result.knowledge = nullptr;
  result.adaptation = {};
  if (made.found.left_out) set_scale(made.found.left_out->scale, result);
  const double batch = result.inductive_scale.five * batch_trust(shots);
  result.transductive_scale = {batch, batch, batch};
  result.vb.degrees = made.found.degrees;
  result.chosen = made.chosen;
  return result;
}

}  // namespace protocom
