#pragma once
#include <cstdint>
#include <memory>

#include "base/matrix.h"
#include "fewshot/plda/detail/foreign_rows.h"
#include "fewshot/plda/model.h"
#include "fewshot/task.h"

namespace protocom {

/// A model that is adapted to each task's labelled images, in the form used by its runs.
struct AdaptingModel {
  explicit AdaptingModel(std::shared_ptr<const PldaModel> adapting);

  std::shared_ptr<const PldaModel> model;
  /// The map that gives a task's rows; null: plain features, for a model without a space.
  std::shared_ptr<const ForeignRows> rows;
  DoubleVector between;  ///< variances of the space, [e]; empty without one
};

/// Runs `plda` in the space that adapted() would make from each task's labelled images, without computing that space:
/// it differs from a multiple of I, or from the fitted one, only in the span of the images
/// (plda/detail/adapted_axes.h). With m labelled images of e dimensions and q queries a task takes O((m + q) m e + m^3)
/// instead of O((m + q) e^2 + e^3). `scale` is the factor of log predictives, 0: the one found from held-out images.
std::unique_ptr<TaskRun> adapting_run(std::shared_ptr<const AdaptingModel> model, double scale);

/// Runs `plda-vb` in the same spaces, which also follow the unlabelled images (plda/detail/batch_space.h). `vb` has the
/// method's proportions and steps.
std::unique_ptr<TaskRun> adapting_batch_run(std::shared_ptr<const AdaptingModel> model, PldaVbOptions vb, double scale);

}  // namespace protocom
