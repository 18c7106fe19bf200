#pragma once
#include <cstdint>
#include <memory>

#include "base/matrix.h"
#include "fewshot/plda/detail/foreign_rows.h"
#include "fewshot/plda/model.h"
#include "fewshot/task.h"

namespace protocom {

/// A model that each task's labelled images adapt, as its runs read it.
struct AdaptingModel {
  explicit AdaptingModel(std::shared_ptr<const PldaModel> adapting);

  std::shared_ptr<const PldaModel> model;
  /// What a task's rows are; null: features as they are, of a model without a space.
  std::shared_ptr<const ForeignRows> rows;
  DoubleVector between;  ///< of the space, [e]; empty without one
};

/// `plda` in the space that adapted() would make of each task's labelled images, without computing that space: it
/// differs from a multiple of I, or from the fitted one, in what the images span (plda/detail/adapted_axes.h). With m
/// labelled images of e dimensions and q queries a task takes O((m + q) m e + m^3) in place of O((m + q) e^2 + e^3).
/// `scale` is the factor of log predictives, 0: the one that images left out find.
std::unique_ptr<TaskRun> adapting_run(std::shared_ptr<const AdaptingModel> model, double scale);

/// `plda-vb` in the same spaces, which follow the unlabelled images too (plda/detail/batch_space.h). `vb` has the
/// method's proportions and steps.
std::unique_ptr<TaskRun> adapting_batch_run(std::shared_ptr<const AdaptingModel> model, PldaVbOptions vb, double scale);

}  // namespace protocom
