#include "eval/analysis_centres.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/near_matches.h"
#include "base/rng.h"
#include "eval/detail/prepared_context.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

at::Tensor rows_of(const FeatureSet& features, const std::vector<int64_t>& rows) {
  return tensor_of(features.features.gathered(rows));
}

at::Tensor centre_of(const at::Tensor& images) { return images.to(at::kDouble).mean(0).to(at::kFloat); }

std::vector<double> to_vector(const at::Tensor& values) {
  const at::Tensor plain = values.to(at::kDouble).contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

int64_t index_of(const FeatureSet& features, const std::string& name) {
  const auto found = std::find(features.class_names.begin(), features.class_names.end(), name);
  if (found == features.class_names.end())
    fail("the features have no class '{}'{}", name, did_you_mean(name, features.class_names));
  return found - features.class_names.begin();
}

ClassExtremes extremes_of(const FeatureSet& features, const std::string& name, const std::vector<int64_t>& rows,
                          int64_t count) {
  const at::Tensor images = rows_of(features, rows);
  const at::Tensor cosine = at::cosine_similarity(images, centre_of(images).unsqueeze(0), 1);
  const at::Tensor order = cosine.argsort(0, /*descending=*/true);
  const auto n = static_cast<int64_t>(rows.size());
  const auto at_rank = [&](int64_t rank) {
    const int64_t i = order[rank].item<int64_t>();
    return RankedImage{features.image_ids[static_cast<size_t>(rows[static_cast<size_t>(i)])], cosine[i].item<double>()};
  };
  ClassExtremes result{name, {}, {}};
  for (int64_t i = 0; i < std::min(count, n); ++i) {
    result.nearest.push_back(at_rank(i));
    result.farthest.push_back(at_rank(n - 1 - i));
  }
  return result;
}

/// A method that is told one image, and its curve so far.
struct PlacedMethod {
  std::string label;
  std::unique_ptr<Scorer> scorer;
  std::vector<double> mean = {};      // over classes, by rank
  std::vector<double> nearest = {};   // of each class, over the image itself at the nearest ranks
  std::vector<double> farthest = {};  // the same at the farthest
};

/// The images of a class as episodes of that one class, one support each.
EpisodeBatch one_image_each(const at::Tensor& images, int64_t class_index) {
  EpisodeBatch batch;
  batch.support = images.unsqueeze(1).unsqueeze(1);              // [m, 1, 1, d]
  batch.query = at::empty({images.size(0), 0, images.size(1)});  // none
  batch.classes = at::full({images.size(0), 1}, class_index, at::kLong);
  return batch;
}

/// The inductive methods that have prototypes.
std::vector<PlacedMethod> placed_methods(const AnalysisInputs& inputs) {
  const PreparedContext known(inputs.data, {});
  std::vector<PlacedMethod> placed;
  for (const auto& method : inputs.methods) {
    const MethodSpec& spec = method->spec();
    if (spec.sees != Sees::kEachQueryAlone || spec.has(Need::kBaseFeatures) || spec.has(Need::kFeatureMaps)) continue;
    check_needs(*method, known.context());
    PlacedMethod placed_method{method->label(), method->prepare(known.context())};
    const EpisodeBatch probe = one_image_each(tensor_of(inputs.data.features.features.rows(0, 1)), 0);
    if (placed_method.scorer->score(probe).prototypes.defined()) placed.push_back(std::move(placed_method));
  }
  return placed;
}

/// Cosines of what was made of the images of a class, [m, d], to its centre [1, d], in the `order` of the images.
std::vector<double> curve_of(const at::Tensor& rows, const at::Tensor& centre, const at::Tensor& order, int64_t ranks) {
  return resampled(to_vector(at::cosine_similarity(rows, centre, 1).index_select(0, order)), ranks);
}

/// Adds the cosines of prototypes made from each image of a class, by rank of the image, as the share of one class.
void add_class(const at::Tensor& images, int64_t class_index, const SingleImageAnalysis& sizes,
               std::vector<PlacedMethod>& methods) {
  const at::Tensor centre = centre_of(images).unsqueeze(0);
  const at::Tensor order = at::cosine_similarity(images, centre, 1).argsort(0, /*descending=*/true);
  const EpisodeBatch batch = one_image_each(images, class_index);
  const std::vector<double> image = moving_average(curve_of(images, centre, order, sizes.ranks), sizes.window);
  for (PlacedMethod& method : methods) {
    const at::Tensor prototypes = method.scorer->score(batch).prototypes.squeeze(1);  // [m, d]
    const std::vector<double> ranks = curve_of(prototypes, centre, order, sizes.ranks);
    method.mean.resize(ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i) method.mean[i] += ranks[i] / static_cast<double>(sizes.classes);
    const std::vector<double> own = moving_average(ranks, sizes.window);
    method.nearest.push_back(own.front() - image.front());
    method.farthest.push_back(own.back() - image.back());
  }
}

}  // namespace

std::vector<ClassExtremes> extreme_images(const FeatureSet& features, const std::vector<std::string>& classes,
                                          int64_t count) {
  const at::NoGradGuard no_grad;
  const auto by_class = features.rows_by_class();
  std::vector<ClassExtremes> result;
  for (const std::string& name : classes) {
    result.push_back(extremes_of(features, name, by_class[static_cast<size_t>(index_of(features, name))], count));
  }
  return result;
}

std::vector<std::string> random_classes(const FeatureSet& features, Split split, int64_t count, uint64_t seed) {
  const std::vector<int64_t> classes = features.classes_of(split);
  const auto available = static_cast<int64_t>(classes.size());
  Rng rng(seed);
  std::vector<int64_t> picks = rng.sample(available, std::min(available, count));
  std::sort(picks.begin(), picks.end());
  std::vector<std::string> names;
  for (const int64_t pick : picks)
    names.push_back(features.class_names[static_cast<size_t>(classes[static_cast<size_t>(pick)])]);
  return names;
}

std::vector<double> moving_average(const std::vector<double>& values, int64_t window) {
  const auto n = static_cast<int64_t>(values.size());
  if (window < 1 || window > n) fail_usage("a moving average of {} values over {} neighbours", n, window);
  std::vector<double> result;
  for (int64_t i = 0; i + window <= n; ++i) {
    double sum = 0.0;
    for (int64_t k = i; k < i + window; ++k) sum += values[static_cast<size_t>(k)];
    result.push_back(sum / static_cast<double>(window));
  }
  return result;
}

std::vector<double> resampled(const std::vector<double>& values, int64_t count) {
  if (values.empty() || count < 1) fail_usage("{} values cannot be resampled to {}", values.size(), count);
  std::vector<double> result;
  for (int64_t i = 0; i < count; ++i) {
    const double place =
        count == 1 ? 0.0
                   : static_cast<double>(i) * static_cast<double>(values.size() - 1) / static_cast<double>(count - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    const double share = place - static_cast<double>(below);
    result.push_back((1.0 - share) * values[below] + share * values[above]);
  }
  return result;
}

SingleImageAnalysis analyse_single_images(const AnalysisInputs& inputs, Split split, int64_t window) {
  if (window < 1) fail_usage("the moving average needs a window of at least 1, found {}", window);
  const at::NoGradGuard no_grad;
  const auto by_class = inputs.data.features.rows_by_class();
  const auto classes = inputs.data.features.classes_of(split);
  if (classes.empty()) fail("the features have no class of the {} split", to_string(split));
  SingleImageAnalysis result;
  result.classes = static_cast<int64_t>(classes.size());
  result.ranks = static_cast<int64_t>(by_class[static_cast<size_t>(classes.front())].size());
  for (const int64_t k : classes)
    result.ranks = std::min(result.ranks, static_cast<int64_t>(by_class[static_cast<size_t>(k)].size()));
  result.window = std::max<int64_t>(1, std::min(window, result.ranks / 4));
  auto methods = placed_methods(inputs);
  for (const int64_t k : classes)
    add_class(rows_of(inputs.data.features, by_class[static_cast<size_t>(k)]), k, result, methods);
  for (const PlacedMethod& method : methods)
    result.curves.push_back({method.label, moving_average(method.mean, result.window), estimate(method.nearest),
                             estimate(method.farthest)});
  return result;
}

}  // namespace protocom
