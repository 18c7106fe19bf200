#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/log.h"
#include "networks/torch_encoder.h"
#include "trainers/detail/image_subset.h"
#include "trainers/detail/together.h"
#include "trainers/detail/validation_episodes.h"

namespace protocom {
namespace {

void check(const ValidationOptions& options) {
  const EpisodeShape& shape = options.shape;
  if (options.episodes < 0 || shape.n_way < 2 || shape.k_shot < 1 || shape.n_query < 1 || options.every < 1) {
    fail_usage(
        "validation needs episodes >= 0, n_way >= 2, k_shot >= 1, n_query >= 1 and every >= 1, found {}, {}, {}, {} "
        "and {}",
        options.episodes, shape.n_way, shape.k_shot, shape.n_query, options.every);
  }
}

/// Number and sizes of the val classes that episodes can be drawn from.
struct ValClasses {
  int64_t usable = 0;
  int64_t too_small = 0;
  int64_t smallest = std::numeric_limits<int64_t>::max();  ///< images of the smallest usable one
};

/// Moves classes without a spare image for a query out of the split.
ValClasses drop_small_classes(FeatureSet& images, int64_t labelled) {
  ValClasses found;
  const auto rows = images.rows_by_class();
  for (const int64_t label : images.classes_of(Split::kVal)) {
    const auto size = static_cast<int64_t>(rows[static_cast<size_t>(label)].size());
    if (size > labelled) {
      ++found.usable;
      found.smallest = std::min(found.smallest, size);
    } else {
      ++found.too_small;
      images.class_split[static_cast<size_t>(label)] = Split::kBase;
    }
  }
  return found;
}

/// Returns the requested shape, or the nearest one that the val classes have images for.
std::optional<EpisodeShape> fit(FeatureSet& images, const EpisodeShape& asked) {
  const int64_t labelled = std::max(asked.k_shot, asked.most_shots) + asked.unlabelled;
  const ValClasses classes = drop_small_classes(images, labelled);
  if (classes.usable == 0 && classes.too_small == 0) {
    logger().warn("there are no val classes, and too few base classes to leave some out: the last epoch is kept");
    return std::nullopt;
  }
  if (classes.usable < 2) {
    logger().warn("{} val classes have more than {} images, validation needs two: the last epoch is kept",
                  classes.usable, labelled);
    return std::nullopt;
  }
  EpisodeShape shape = asked;
  shape.n_way = std::min(asked.n_way, classes.usable);
  shape.n_query = std::min(asked.n_query, classes.smallest - labelled);
  if (classes.too_small > 0)
    logger().warn("ignoring {} val classes with at most {} images, too few for validation", classes.too_small,
                  labelled);
  if (shape.n_way < asked.n_way)
    logger().warn("there are {0} val classes to validate on: episodes are {0}-way, not {1}-way", shape.n_way,
                  asked.n_way);
  if (shape.n_query < asked.n_query)
    logger().warn("the smallest val class has {} images: validation has {} queries per class, not {}", classes.smallest,
                  shape.n_query, asked.n_query);
  return shape;
}

}  // namespace

Validation::Validation(const FeatureSet& images, const ValidationOptions& options, uint64_t seed)
    : every_(options.every) {
  check(options);
  if (options.episodes == 0) return;
  FeatureSet usable = images;
  if (const auto shape = fit(usable, options.shape))
    episodes_ = sample_episodes(usable, {Split::kVal, *shape, options.episodes, seed});
}

std::vector<MethodScores> Validation::run(const FeatureSet& features, const ValidationModel& model,
                                          Progress& progress) const {
  std::vector<std::string> methods = model.model == nullptr ? std::vector<std::string>{"mean"} : paper_rows();
  if (!model.head.empty() && std::find(methods.begin(), methods.end(), model.head) == methods.end())
    methods.push_back(model.head);
  return evaluate({features, model.model, model.classes}, *episodes_, {make_methods(methods)}, progress);
}

ImageValidation::ImageValidation(const PackedImages& images, const ValidationOptions& options, uint64_t seed)
    : images_(options.episodes > 0 ? subset(images, rows_of_split(images, Split::kVal, options.images_per_class))
                                   : PackedImages()),
      validation_(without_features(images_), options, seed) {}

std::vector<MethodScores> ImageValidation::run(Backbone& backbone, const ExtractOptions& extract,
                                               const ValidationModel& model, Progress& progress) const {
  share_buffers(backbone, *extract.group);
  TorchEncoder encoder(backbone);
  return validation_.run(extract_features(encoder, images_, extract, progress), model, progress);
}

double mean_accuracy(const std::vector<MethodScores>& scores, const std::vector<std::string>& methods) {
  double sum = 0;
  for (const std::string& method : methods) {
    const MethodScores* found = find_scores(scores, method);
    if (found == nullptr) fail("'{}' selects the epoch but has no scores", method);
    sum += estimate(found->accuracy).value;
  }
  return sum / static_cast<double>(methods.size());
}

nlohmann::json accuracies_json(const std::vector<MethodScores>& scores) {
  nlohmann::json accuracies = nlohmann::json::object();
  for (const MethodScores& score : scores) {
    const Estimate accuracy = estimate(score.accuracy);
    accuracies[score.method] = {{"accuracy", accuracy.value}, {"ci95", accuracy.ci95}};
  }
  return accuracies;
}

}  // namespace protocom
