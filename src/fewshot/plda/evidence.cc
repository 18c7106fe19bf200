#include "fewshot/plda/detail/evidence.h"

#include <ATen/ATen.h>

#include <map>

#include "base/rng.h"

namespace protocom {
namespace {

constexpr int64_t kFewestClasses = 4;    ///< of the base, to leave some out
constexpr int64_t kManyClasses = 20;     ///< from here on they are left out in options.folds parts
constexpr int64_t kImagesPerClass = 60;  ///< of held-out classes, for tasks

/// The labels' rows, by class.
std::map<int64_t, std::vector<int64_t>> rows_by_class(const at::Tensor& labels) {
  const at::Tensor wide = labels.to(at::kLong).contiguous();
  const int64_t* values = wide.data_ptr<int64_t>();
  std::map<int64_t, std::vector<int64_t>> rows;
  for (int64_t i = 0; i < wide.numel(); ++i) rows[values[i]].push_back(i);
  return rows;
}

at::Tensor indices(const std::vector<int64_t>& values) { return at::tensor(values, at::kLong); }

HeldOutPart make_part(PldaSpaceFitter fitter, UnitMoments held_out, const at::Tensor& features,
                      const at::Tensor& labels) {
  HeldOutPart part{std::move(fitter), std::move(held_out), {}, {}};
  std::vector<int64_t> kept;
  for (const auto& [label, rows] : rows_by_class(labels)) {
    part.rows.emplace_back();
    for (size_t i = 0; i < rows.size() && i < kImagesPerClass; ++i) {
      part.rows.back().push_back(static_cast<int64_t>(kept.size()));
      kept.push_back(rows[i]);
    }
  }
  part.features = features.index_select(0, indices(kept));
  return part;
}

/// Which images are of each of `parts` groups of classes.
std::vector<at::Tensor> class_groups(const at::Tensor& labels, int64_t parts, uint64_t seed) {
  const auto rows = rows_by_class(labels);
  std::vector<const std::vector<int64_t>*> of_class;
  for (const auto& entry : rows) of_class.push_back(&entry.second);
  const auto classes = static_cast<int64_t>(of_class.size());
  const auto order = Rng(seed).sample(classes, classes);
  std::vector<std::vector<int64_t>> groups(static_cast<size_t>(parts));
  for (int64_t i = 0; i < classes; ++i) {
    const auto& more = *of_class[static_cast<size_t>(order[static_cast<size_t>(i)])];
    auto& group = groups[static_cast<size_t>(i % parts)];
    group.insert(group.end(), more.begin(), more.end());
  }
  std::vector<at::Tensor> tensors;
  for (const auto& group : groups) tensors.push_back(indices(group));
  return tensors;
}

}  // namespace

std::pair<PldaSpaceFitter, HeldOutEvidence> hold_out(const PldaFitInputs& inputs, const PldaFitOptions& options) {
  // One center for all groups, also where a group is left out: only then can their moments be added.
  const at::Tensor center = inputs.base_features.mean(0, false, at::kDouble);
  const auto classes = static_cast<int64_t>(rows_by_class(inputs.base_labels).size());
  const int64_t parts = classes < kFewestClasses ? 1 : classes < kManyClasses ? 2 : options.folds;
  const auto groups = class_groups(inputs.base_labels, parts, options.seed);
  std::vector<UnitMoments> moments;
  for (const at::Tensor& group : groups) {
    moments.push_back(
        unit_moments(inputs.base_features.index_select(0, group), inputs.base_labels.index_select(0, group), center));
  }
  // Each group goes over its features once; a space without it is fitted to the sum of the others' moments.
  const auto joined = [&](size_t without) {
    UnitMoments sum;
    for (size_t i = 0; i < moments.size(); ++i) {
      if (i != without) sum = sum.center.defined() ? join(sum, moments[i]) : moments[i];
    }
    return PldaSpaceFitter(std::move(sum));
  };
  HeldOutEvidence evidence;
  for (size_t i = 0; parts > 1 && i < groups.size(); ++i) {
    evidence.folds.push_back(make_part(joined(i), moments[i], inputs.base_features.index_select(0, groups[i]),
                                       inputs.base_labels.index_select(0, groups[i])));
  }
  PldaSpaceFitter whole = joined(moments.size());
  if (inputs.val_features.defined() && rows_by_class(inputs.val_labels).size() >= kFewestClasses) {
    evidence.val.push_back(make_part(whole, unit_moments(inputs.val_features, inputs.val_labels, center),
                                     inputs.val_features, inputs.val_labels));
  }
  return {std::move(whole), std::move(evidence)};
}

}  // namespace protocom
