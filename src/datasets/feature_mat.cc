#include <ATen/ATen.h>

#include <set>

#include "base/error.h"
#include "datasets/detail/feature_parts.h"
#include "io/mat_file.h"
#include "tensors/tensors.h"

namespace protocom::feature_parts {
namespace fs = std::filesystem;
namespace {

/// The classes of images that the benchmark numbers from 1 on.
std::set<int64_t> classes_at(const MatFile& splits, const char* name, const at::Tensor& labels) {
  std::set<int64_t> classes;
  if (!splits.has(name)) return classes;
  const at::Tensor places = tensor_of(splits.matrix(name)).reshape({-1}).to(at::kLong);
  const auto* place = places.data_ptr<int64_t>();
  const auto* label = labels.data_ptr<int64_t>();
  for (int64_t i = 0; i < places.size(0); ++i) {
    if (place[i] < 1 || place[i] > labels.size(0))
      fail("att_splits.mat: '{}' names image {} of {}", name, place[i], labels.size(0));
    classes.insert(label[place[i] - 1]);
  }
  return classes;
}

/// "proposed split" of Xian et al. (Zero-Shot Learning: A Comprehensive Evaluation, TPAMI 2018): test_unseen_loc are
/// images of the novel classes, val_loc and train_loc divide the others' classes.
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
  at::Tensor features = tensor_of(file.matrix("features"));
  const at::Tensor labels = tensor_of(file.matrix("labels")).reshape({-1});
  if (features.size(0) != labels.size(0) && features.size(1) == labels.size(0)) features = features.t();
  set.features = checked_features(features, path.string());
  set.image_ids = numbered(set.features.size(0));
  const fs::path beside = path.parent_path() / "att_splits.mat";
  if (!fs::exists(beside)) {
    take_labels(array_of(labels), {std::nullopt, 0, path.string()}, set);
    return std::nullopt;
  }
  const MatFile splits(beside);
  const std::vector<std::string> names = clean_names(splits.texts("allclasses_names"));
  take_labels(array_of(labels - 1), {names, 0, path.string()}, set);
  return split_in(splits, set);
}

}  // namespace protocom::feature_parts
