#include "encoders/preprocessing_trial.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/evenly.h"
#include "base/matrix.h"

namespace protocom {
namespace {

/// The same images at the sizes of several presets, decoded once each.
class Sizes {
 public:
  Sizes(ImageDataset images, Progress& progress) : images_(std::move(images)), progress_(progress) {}

  const PackedImages& at(const Preprocessing& preprocessing) {
    PackOptions pack;
    pack.image_size = preprocessing.image_size;
    pack.resize = preprocessing.shorter_side();
    pack.resampling = preprocessing.resampling;
    pack.squeeze = preprocessing.squeeze;
    const auto [found, is_new] = packed_.try_emplace({pack.image_size, pack.resize, pack.resampling, pack.squeeze});
    if (is_new) found->second = pack_images(images_, pack, progress_);
    return found->second;
  }

 private:
  ImageDataset images_;
  Progress& progress_;
  std::map<std::tuple<int64_t, int64_t, Resampling, bool>, PackedImages> packed_;
};

/// Returns the number of images of each class, [c].
Eigen::VectorXf counts_of(const std::vector<int64_t>& labels, int64_t classes) {
  Eigen::VectorXf count = Eigen::VectorXf::Zero(classes);
  for (const int64_t label : labels) count[label] += 1;
  return count;
}

/// Returns the sum of the rows [n, d] of each class, [c, d].
template <typename Rows>
FloatMatrix sums_of(const Rows& rows, const std::vector<int64_t>& labels, int64_t classes) {
  FloatMatrix sum = FloatMatrix::Zero(classes, rows.cols());
  for (size_t i = 0; i < labels.size(); ++i) sum.row(labels[i]) += rows.row(static_cast<int64_t>(i));
  return sum;
}

}  // namespace

std::vector<std::string> common_presets(int64_t image_size) {
  const std::string size = fmt::format(":size={}", image_size);
  return {"plain" + size, "imagenet" + size, "clip" + size, "half" + size};
}

ImageDataset few_base_images(const ImageDataset& dataset, int64_t classes, int64_t images) {
  std::vector<std::vector<size_t>> items(dataset.class_names.size());
  for (size_t i = 0; i < dataset.items.size(); ++i) items[static_cast<size_t>(dataset.items[i].label)].push_back(i);
  std::vector<size_t> base;
  for (size_t k = 0; k < items.size(); ++k) {
    if (dataset.class_split[k] == Split::kBase && items[k].size() > 1) base.push_back(k);
  }
  ImageDataset few;
  for (const int64_t chosen : evenly(static_cast<int64_t>(base.size()), classes)) {
    const size_t k = base[static_cast<size_t>(chosen)];
    for (const int64_t i : evenly(static_cast<int64_t>(items[k].size()), images)) {
      few.items.push_back(dataset.items[items[k][static_cast<size_t>(i)]]);
      few.items.back().label = static_cast<int64_t>(few.class_names.size());
    }
    few.class_names.push_back(dataset.class_names[k]);
    few.class_split.push_back(Split::kBase);
  }
  if (few.class_names.size() < 2) fail("comparing preprocessings needs two base classes of two images each");
  return few;
}

std::vector<double> right_by_nearest_mean(const FeatureSet& features) {
  const auto& labels = features.labels;
  const auto all = matrix_of<float>(features.features);  // [n, d]
  const int64_t classes = *std::max_element(labels.begin(), labels.end()) + 1;
  const auto count = counts_of(labels, classes);                                              // [c]
  const FloatMatrix means = sums_of(all, labels, classes).array().colwise() / count.array();  // [c, d]
  const FloatMatrix f = all.rowwise() - means.colwise().mean();                               // [n, d]
  const FloatMatrix sum = sums_of(f, labels, classes);                                        // [c, d]
  FloatMatrix cosine = unit_rows(f) * unit_rows(sum).transpose();                             // [n, c]
  std::vector<double> right;
  for (int64_t i = 0; i < f.rows(); ++i) {
    const int64_t own = labels[static_cast<size_t>(i)];
    const FloatMatrix without = sum.row(own) - f.row(i);  // [1, d], without the image itself
    cosine(i, own) = unit_rows(f.row(i)).row(0).dot(unit_rows(without).row(0));
    int64_t nearest = 0;
    cosine.row(i).maxCoeff(&nearest);
    right.push_back(nearest == own ? 100 : 0);
  }
  return right;
}

std::vector<PreprocessingTrial> try_preprocessing(const std::filesystem::path& encoder, const ImageDataset& dataset,
                                                  const PreprocessingTrials& trials, Progress& progress) {
  Sizes sizes(few_base_images(dataset, trials.classes, trials.images), progress);
  std::vector<PreprocessingTrial> tried;
  for (const std::string& preset : trials.presets) {
    PreprocessingTrial trial{preset, parse_preprocessing(preset), {}};
    EncoderFileOptions asked;
    asked.architecture = trials.architecture;
    asked.preprocessing = trial.preprocessing;
    asked.output = trials.output;
    const auto opened = open_encoder(encoder, asked);
    if (!(opened->preprocessing() == trial.preprocessing))
      fail_usage("{} states its preprocessing, {}: there is nothing to compare", encoder.string(),
                 describe(opened->preprocessing()));
    const PackedImages& images = sizes.at(trial.preprocessing);
    trial.right = right_by_nearest_mean(extract_features(*opened, images, trials.extract, progress));
    tried.push_back(std::move(trial));
  }
  return tried;
}

}  // namespace protocom
