#include "eval/analysis_centres.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/matrix.h"
#include "base/near_matches.h"
#include "base/rng.h"
#include "eval/detail/prepared_context.h"
#include "fewshot/task_images.h"

namespace protocom {
namespace {

FloatMatrix rows_of(const FeatureSet& features, const std::vector<int64_t>& rows) {
  const Array taken = features.features.gathered(rows);
  return matrix_of<float>(taken);
}

Eigen::RowVectorXf centre_of(const FloatMatrix& images) { return images.cast<double>().colwise().mean().cast<float>(); }

/// Returns the cosine of each row with a vector.
std::vector<double> cosines(const FloatMatrix& rows, const Eigen::RowVectorXf& to) {
  constexpr float kLeast = 1e-8F;
  const float length = std::max(to.norm(), kLeast);
  std::vector<double> found;
  for (int64_t i = 0; i < rows.rows(); ++i)
    found.push_back(rows.row(i).dot(to) / (std::max(rows.row(i).norm(), kLeast) * length));
  return found;
}

/// Returns the indices of values, largest first.
std::vector<size_t> descending(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  return order;
}

int64_t index_of(const FeatureSet& features, const std::string& name) {
  const auto found = std::find(features.class_names.begin(), features.class_names.end(), name);
  if (found == features.class_names.end())
    fail("the features have no class '{}'{}", name, did_you_mean(name, features.class_names));
  return found - features.class_names.begin();
}

ClassExtremes find_extremes(const FeatureSet& features, const std::string& name, const std::vector<int64_t>& rows,
                            int64_t count) {
  const FloatMatrix images = rows_of(features, rows);
  const std::vector<double> cosine = cosines(images, centre_of(images));
  const std::vector<size_t> order = descending(cosine);
  const auto at_rank = [&](size_t rank) {
    const size_t i = order[rank];
    return RankedImage{features.image_ids[static_cast<size_t>(rows[i])], cosine[i]};
  };
  ClassExtremes result{name, {}, {}};
  for (size_t i = 0; i < std::min(static_cast<size_t>(count), rows.size()); ++i) {
    result.nearest.push_back(at_rank(i));
    result.farthest.push_back(at_rank(rows.size() - 1 - i));
  }
  return result;
}

/// A method that gets one labelled image, and its curve so far.
struct PlacedMethod {
  std::string label;
  PreparedMethod prepared;
  std::vector<double> mean = {};      // over classes, by rank
  std::vector<double> nearest = {};   // per class, gain over the image itself at the nearest ranks
  std::vector<double> farthest = {};  // the same at the farthest
};

/// Returns the prototypes [m, width] that a method makes from images of a class, each alone as a task of that one
/// class. Empty: it has none.
FloatMatrix prototypes_of(const PreparedMethod& prepared, const FloatMatrix& images, int64_t class_index) {
  const auto run = prepared.make_run();
  FloatMatrix prototypes;
  for (int64_t i = 0; i < images.rows(); ++i) {
    TaskImages alone = TaskImages::of(images.row(i), {0}, 1).mapped(prepared.space.get());
    alone.numbers = {class_index};
    const FloatMatrix no_queries(0, alone.rows.cols());
    const Task task = task_of(alone, no_queries);
    answer_of(*run, task);
    if (run->prototypes() == nullptr) return {};
    if (i == 0) prototypes.resize(images.rows(), task.width);
    prototypes.row(i) = Eigen::Map<const Eigen::RowVectorXf>(run->prototypes(), task.width);
  }
  return prototypes;
}

/// Returns the inductive methods that have prototypes.
std::vector<PlacedMethod> placed_methods(const AnalysisInputs& inputs) {
  const PreparedContext known(inputs.data, {});
  const FloatMatrix probe = rows_of(inputs.data.features, {0});
  std::vector<PlacedMethod> placed;
  for (const auto& method : inputs.methods) {
    const MethodSpec& spec = method->spec();
    if (spec.sees != Sees::kEachQueryAlone || spec.has(Need::kBaseFeatures) || spec.has(Need::kFeatureMaps)) continue;
    check_needs(*method, known.context());
    PlacedMethod placed_method{method->label(), method->prepare(known.context())};
    if (prototypes_of(placed_method.prepared, probe, 0).size() > 0) placed.push_back(std::move(placed_method));
  }
  return placed;
}

/// Returns the cosines between the rows made from images of a class and its centre, in the `order` of the images.
std::vector<double> curve_of(const FloatMatrix& rows, const Eigen::RowVectorXf& centre,
                             const std::vector<size_t>& order, int64_t ranks) {
  const std::vector<double> cosine = cosines(rows, centre);
  std::vector<double> ordered;
  for (const size_t i : order) ordered.push_back(cosine[i]);
  return resampled(ordered, ranks);
}

/// Adds one class to the curves: the cosines of prototypes made from each of its images, by rank of the image.
void add_class(const FloatMatrix& images, int64_t class_index, const SingleImageAnalysis& sizes,
               std::vector<PlacedMethod>& methods) {
  const Eigen::RowVectorXf centre = centre_of(images);
  const std::vector<size_t> order = descending(cosines(images, centre));
  const std::vector<double> image = moving_average(curve_of(images, centre, order, sizes.ranks), sizes.window);
  for (PlacedMethod& method : methods) {
    const FloatMatrix prototypes = prototypes_of(method.prepared, images, class_index);
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
  const auto by_class = features.rows_by_class();
  std::vector<ClassExtremes> result;
  for (const std::string& name : classes) {
    result.push_back(find_extremes(features, name, by_class[static_cast<size_t>(index_of(features, name))], count));
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
  if (window < 1 || window > n) fail_usage("moving average: expected a window of 1 to {} values, found {}", n, window);
  std::vector<double> result;
  for (int64_t i = 0; i + window <= n; ++i) {
    double sum = 0.0;
    for (int64_t k = i; k < i + window; ++k) sum += values[static_cast<size_t>(k)];
    result.push_back(sum / static_cast<double>(window));
  }
  return result;
}

std::vector<double> resampled(const std::vector<double>& values, int64_t count) {
  if (values.empty() || count < 1)
    fail_usage("resampling: expected at least one value and at least one point, found {} and {}", values.size(), count);
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
