#include "fewshot/plda/detail/evidence.h"

#include <map>

#include "base/rng.h"

namespace protocom {
namespace {

constexpr int64_t kFewestClasses = 4;    ///< of the base, for leaving some out
constexpr int64_t kManyClasses = 20;     ///< from this number on they are left out in options.folds parts
constexpr int64_t kImagesPerClass = 60;  ///< per held-out class, for tasks

/// Returns the rows of each label.
std::map<int64_t, std::vector<int64_t>> rows_by_class(const std::vector<int64_t>& labels) {
  std::map<int64_t, std::vector<int64_t>> rows;
  for (size_t i = 0; i < labels.size(); ++i) rows[labels[i]].push_back(static_cast<int64_t>(i));
  return rows;
}

DoubleVector mean_of_rows(const Eigen::Ref<const FloatMatrix>& rows) {
  DoubleVector sum = DoubleVector::Zero(rows.cols());
  for (int64_t i = 0; i < rows.rows(); ++i) sum += rows.row(i).transpose().cast<double>();
  return sum / static_cast<double>(rows.rows());
}

/// A subset of the images of a set.
struct LabelledImages {
  FloatMatrix features;         // [m, d]
  std::vector<int64_t> labels;  // [m]

  LabelledImages(const Array& all, const std::vector<int64_t>& all_labels, const std::vector<int64_t>& rows)
      : features(matrix_of<float>(all)(rows, Eigen::all)) {
    for (const int64_t row : rows) labels.push_back(all_labels[static_cast<size_t>(row)]);
  }
};

HeldOutPart make_part(PldaSpaceFitter fitter, UnitMoments held_out, const Eigen::Ref<const FloatMatrix>& features,
                      const std::vector<int64_t>& labels) {
  HeldOutPart part{std::move(fitter), std::move(held_out), {}, {}};
  std::vector<int64_t> kept;
  for (const auto& [label, rows] : rows_by_class(labels)) {
    part.rows.emplace_back();
    for (size_t i = 0; i < rows.size() && i < kImagesPerClass; ++i) {
      part.rows.back().push_back(static_cast<int64_t>(kept.size()));
      kept.push_back(rows[i]);
    }
  }
  part.features = features(kept, Eigen::all);
  return part;
}

/// Returns the images of each of `parts` groups of classes.
std::vector<std::vector<int64_t>> class_groups(const std::vector<int64_t>& labels, int64_t parts, uint64_t seed) {
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
  return groups;
}

}  // namespace

std::pair<PldaSpaceFitter, HeldOutEvidence> hold_out(const PldaFitInputs& inputs, const PldaFitOptions& options) {
  // Uses one center for all groups, even when a group is left out: only then can their moments be added.
  const DoubleVector center = mean_of_rows(matrix_of<float>(inputs.base_features));
  const auto classes = static_cast<int64_t>(rows_by_class(inputs.base_labels).size());
  const int64_t parts = classes < kFewestClasses ? 1 : classes < kManyClasses ? 2 : options.folds;
  std::vector<LabelledImages> groups;
  std::vector<UnitMoments> moments;
  for (const std::vector<int64_t>& rows : class_groups(inputs.base_labels, parts, options.seed)) {
    groups.emplace_back(inputs.base_features, inputs.base_labels, rows);
    moments.push_back(unit_moments<float>(groups.back().features, groups.back().labels, center));
  }
  // Reads the features of each group once; the space without a group is fitted to the sum of the others' moments.
  const auto joined = [&](size_t without) {
    UnitMoments sum;
    for (size_t i = 0; i < moments.size(); ++i) {
      if (i != without) sum = sum.classes.empty() ? moments[i] : join(sum, moments[i]);
    }
    return PldaSpaceFitter(std::move(sum));
  };
  HeldOutEvidence evidence;
  for (size_t i = 0; parts > 1 && i < groups.size(); ++i)
    evidence.folds.push_back(make_part(joined(i), moments[i], groups[i].features, groups[i].labels));
  PldaSpaceFitter whole = joined(moments.size());
  if (inputs.val_features.defined() && rows_by_class(inputs.val_labels).size() >= kFewestClasses) {
    const auto val = matrix_of<float>(inputs.val_features);
    evidence.val.push_back(
        make_part(whole, unit_moments<float>(val, inputs.val_labels, center), val, inputs.val_labels));
  }
  return {std::move(whole), std::move(evidence)};
}

}  // namespace protocom
