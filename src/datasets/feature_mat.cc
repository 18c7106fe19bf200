#include <set>

#include "base/error.h"
#include "base/matrix.h"
#include "datasets/detail/feature_parts.h"
#include "io/mat_file.h"

namespace protocom::feature_parts {
namespace fs = std::filesystem;
namespace {

/// Returns the classes of images, which the benchmark numbers from 1 on.
std::set<int64_t> classes_at(const MatFile& splits, const char* name, const std::vector<int64_t>& labels) {
  std::set<int64_t> classes;
  if (!splits.has(name)) return classes;
  const Array places = splits.matrix(name).to(NumberType::kInt64);
  for (int64_t i = 0; i < places.numel(); ++i) {
    const int64_t place = places.data<int64_t>()[i];
    if (place < 1 || place > static_cast<int64_t>(labels.size()))
      fail("att_splits.mat: '{}' has image {}, out of range 1 to {}", name, place, labels.size());
    classes.insert(labels[static_cast<size_t>(place - 1)]);
  }
  return classes;
}

/// Returns the "proposed split" of Xian et al. (Zero-Shot Learning: A Comprehensive Evaluation, TPAMI 2018):
/// test_unseen_loc are images of the novel classes, val_loc and train_loc divide the other classes.
std::vector<std::string> split_in(const MatFile& splits, const FeatureSet& set) {
  const std::set<int64_t> novel = classes_at(splits, "test_unseen_loc", set.labels);
  const std::set<int64_t> train = classes_at(splits, "train_loc", set.labels);
  const std::set<int64_t> val = classes_at(splits, "val_loc", set.labels);
  std::vector<std::string> split;
  for (int64_t c = 0; c < static_cast<int64_t>(set.class_names.size()); ++c) {
    const bool only_val = val.count(c) > 0 && train.count(c) == 0;
    split.emplace_back(novel.count(c) > 0 ? "novel" : only_val ? "val" : "base");
  }
  return split;
}

}  // namespace

std::optional<std::vector<std::string>> read_mat_features(const fs::path& path, FeatureSet& set) {
  const MatFile file(path);
  Array features = file.matrix("features");
  Array labels = file.matrix("labels");
  labels = labels.reshaped({labels.numel()});
  if (features.size(0) != labels.size(0) && features.size(1) == labels.size(0))
    features = array_of_matrix(matrix_of<double>(features).transpose());
  set.features = checked_features(features, path.string());
  set.image_ids = numbered(set.features.size(0));
  const fs::path beside = path.parent_path() / "att_splits.mat";
  if (!fs::exists(beside)) {
    take_labels(labels, {std::nullopt, 0, path.string()}, set);
    return std::nullopt;
  }
  const MatFile splits(beside);
  const std::vector<std::string> names = clean_names(splits.texts("allclasses_names"));
  double* label = labels.mutable_data<double>();
  for (int64_t i = 0; i < labels.numel(); ++i) --label[i];
  take_labels(labels, {names, 0, path.string()}, set);
  return split_in(splits, set);
}

}  // namespace protocom::feature_parts
