#pragma once
#include <ATen/ATen.h>

#include <cmath>
#include <memory>

#include "fewshot/plda/detail/tasks.h"
#include "support/matrices.h"

namespace protocom::testing {

/// Held-out classes that are drawn in the space, and the variances assumed there. 16 dimensions, all leading.
struct PldaWorldOptions {
  int64_t classes = 40;
  int64_t each = 40;
  double between = 0.5;         ///< variance of class means
  double within = 1;            ///< of images, assumed to be 1
  double stated_between = 0.5;  ///< assumed value of `between`
  int64_t dims = 16;
};

/// Returns the rows of features [m, dims] of a layout without a rest, whose dims fill the padding.
inline at::Tensor rows_of_features(const at::Tensor& features, const PldaLayout& layout) {
  return at::cat({features, features.square(), at::zeros({features.size(0), layout.width() - 2 * layout.padded})}, -1);
}

inline HeldOutClasses plda_world(const PldaWorldOptions& options = {}, uint64_t seed = 17) {
  at::manual_seed(seed);
  PldaModel model;
  model.space.between = DoubleVector::Constant(options.dims, options.stated_between);
  model.space.leading = options.dims;
  model.residual = model.space.between;
  HeldOutClasses world;
  world.layout = plda_layout(model);
  const at::Tensor means = std::sqrt(options.between) * at::randn({options.classes, options.dims});
  const at::Tensor noise = std::sqrt(options.within) * at::randn({options.classes * options.each, options.dims});
  const at::Tensor rows = rows_of_features(means.repeat_interleave(options.each, 0) + noise, world.layout);
  world.features = std::make_shared<const FloatMatrix>(float_matrix_of(rows));
  for (int64_t c = 0; c < options.classes; ++c) {
    world.rows.emplace_back();
    for (int64_t i = 0; i < options.each; ++i) world.rows.back().push_back(c * options.each + i);
  }
  world.prior = in_parts(no_knowledge(model.space.between, options.classes), world.layout);
  world.variance = in_parts(model.space.between, world.layout);
  const PldaRowMetric wide = row_metric(world.variance, 0, world.layout);
  world.undescribed = row_predictive(rows_of_means(in_parts(no_knowledge(model.space.between, 1), world.layout)), wide);
  return world;
}

}  // namespace protocom::testing
