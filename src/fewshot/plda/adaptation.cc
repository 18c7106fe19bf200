#include "fewshot/plda/detail/adaptation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fewshot/plda/detail/adapted_axes.h"
#include "fewshot/plda/detail/matrix_of_tensor.h"
#include "fewshot/plda/detail/own_directions.h"
#include "fewshot/toolbox/detail/complete_basis.h"
#include "fewshot/toolbox/detail/symmetric_eigen.h"

namespace protocom {
namespace {

/// A space as a model keeps it, and what is known of it.
struct AdaptedModelSpace {
  PldaSpace space;
  AdaptedSpace found;
};

/// Of distinct images [m, d] alone.
AdaptedModelSpace space_of_images(const ClassRows& images, const PldaAdaptation& adaptation) {
  const int64_t d = images.x.cols();
  LabelledPlaces labelled{std::vector<int64_t>(images.label.size()), images.label, images.classes};
  std::iota(labelled.rows.begin(), labelled.rows.end(), 0);
  const OwnDirections<DoubleMatrix> directions(images.x, labelled, adaptation);
  const SpanCoordinates span = span_coordinates(directions.z, images.images());
  AdaptedModelSpace result;
  result.found = isotropic_space({span.x, images.label, images.classes}, static_cast<double>(d), adaptation);
  AdaptedAxes& axes = result.found.axes;
  DoubleVector origin = directions.origin;
  if (span.combine.rows() > 0) {
    const DoubleMatrix basis = directions.z.transpose() * span.combine;  // [d, r]
    axes.whitening.directions = basis * axes.whitening.directions;
    if (axes.origin.size() > 0) origin += basis * axes.origin;  // BLAS complains about a product of nothing
  } else {
    origin += axes.origin;
  }
  const int64_t rank = axes.whitening.along.size();
  const AdaptedAxes all = axes.complete();
  const DoubleMatrix projection = all.whitening.directions * all.whitening.along.asDiagonal();
  PldaSpace& space = result.space;
  space.root = directions.root;
  space.center = tensor_of(DoubleVector(directions.center));
  space.projection = tensor_of(projection);
  space.offset = tensor_of(DoubleVector(projection.transpose() * origin));
  space.between = tensor_of(all.space.between);
  space.leading = std::max<int64_t>(rank, 1);
  return result;
}

/// A fitted space after distinct images [m, d].
AdaptedModelSpace space_after_images(const PldaSpace& fitted, const ClassRows& images,
                                     const PldaAdaptation& adaptation) {
  const ClassRows rooted{matrix_of(fitted.rooted(tensor_of(images.x))), images.label, images.classes};
  const DoubleVector center = rooted.means().colwise().mean(), before = vector_of(fitted.center);
  AdaptedModelSpace result;
  PldaSpace& space = result.space;
  space = fitted;
  space.center = tensor_of(DoubleVector(before + center_share(adaptation, images.classes) * (center - before)));
  const ClassRows f{matrix_of(space.transform(tensor_of(images.x))), images.label, images.classes};
  const DoubleVector between = between_at_hand(f, vector_of(fitted.between), fitted.leading, adaptation);
  result.found = fitted_space(f, between, adaptation);
  const AdaptedAxes& axes = result.found.axes;
  const DoubleMatrix offset = (vector_of(fitted.offset) + axes.origin).transpose();
  space.projection = tensor_of(axes.whitening.apply(matrix_of(fitted.projection)));
  space.offset = tensor_of(DoubleVector(axes.whitening.apply(offset).transpose()));
  space.between = tensor_of(axes.space.between);
  return result;
}

/// The fitted space, or one of the images alone where they are as many as dimensions and that is surely better.
AdaptedModelSpace adapted_space(const PldaModel& model, const ClassRows& images) {
  if (model.adaptation.isotropic) return space_of_images(images, model.adaptation);
  AdaptedModelSpace fitted = space_after_images(model.space, images, model.adaptation);
  if (!fitted.found.left_out || images.images() - images.classes < images.x.cols()) return fitted;
  AdaptedModelSpace alone = space_of_images(images, model.adaptation);
  return is_surely_better(alone.found, fitted.found) ? alone : fitted;
}

void check_images(const PldaModel& model, const at::Tensor& features) {
  if (features.dim() != 2 || (!model.adaptation.isotropic && features.size(1) != model.space.center.size(0)))
    fail("features of the shape [{}], expected [any, {}]", fmt::join(features.sizes(), ", "),
         model.adaptation.isotropic ? -1 : model.space.center.size(0));
  if (!features.isfinite().all().item<bool>()) fail("a feature is not finite, expected numbers");
}

/// The images without copies, which do not show how images of a class differ.
ClassRows distinct_images(const at::Tensor& features, const at::Tensor& labels, int64_t classes) {
  const ClassRows all{matrix_of(features), labels_of(labels), classes};
  std::vector<const double*> rows;
  for (int64_t i = 0; i < all.images(); ++i) rows.push_back(all.x.row(i).data());
  return all.of(distinct_rows(rows, all.label, all.x.cols()));
}

}  // namespace

PldaSpace with_isotropic_share(const PldaSpace& space, double share) {
  const DoubleMatrix projection = matrix_of(space.projection);
  const DoubleMatrix isotropic = projection.transpose() * projection;
  const double unit = static_cast<double>(projection.cols()) / isotropic.trace();
  DoubleMatrix within = share * unit * isotropic;
  within.diagonal().array() += 1 - share;
  const EigenRows eigen = eigen_rows(within);
  const DoubleMatrix root =
      eigen.vectors.transpose() * eigen.values.cwiseSqrt().cwiseInverse().asDiagonal() * eigen.vectors;
  PldaSpace result = space;
  result.projection = tensor_of(DoubleMatrix(projection * root));
  result.offset = tensor_of(DoubleVector(root * vector_of(space.offset)));
  result.between = tensor_of(DoubleVector(root.cwiseAbs2() * vector_of(space.between)));
  return result;
}

void set_scale(double scale, PldaModel& model) {
  for (ByShots* shots : {&model.inductive_scale, &model.transductive_scale, &model.known_slope})
    *shots = {scale, scale, scale};
}

PldaModel adapted(const PldaModel& model, const at::Tensor& features, const at::Tensor& labels, int64_t classes) {
  check_images(model, features);
  const ClassRows images = distinct_images(features, labels, classes);
  PldaModel result = model;
  const AdaptedModelSpace made = adapted_space(model, images);
  result.space = made.space;
  result.residual = result.space.between;
  result.knowledge = nullptr;
  result.adaptation = {};
  if (made.found.left_out) set_scale(made.found.left_out->scale, result);
  const double batch = result.inductive_scale.five * batch_trust(images.count().mean());
  result.transductive_scale = {batch, batch, batch};
  result.vb.degrees = made.found.degrees;
  return result;
}

}  // namespace protocom
