#include "fewshot/plda/detail/own_span.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "fewshot/plda/detail/isotropic.h"
#include "fewshot/plda/detail/known.h"
#include "fewshot/plda/detail/probability_scale.h"
#include "fewshot/plda/detail/span_images.h"
#include "fewshot/plda/detail/span_model.h"
#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {
namespace {

/// With more labelled images LAPACK's way through blocks is faster than vectors one by one.
constexpr int64_t kMostImages = 256;

/// nu and the scale of log predictives.
struct SpanChoice {
  double nu = 0;
  double scale = 1;
};

/// As images left out have it, in folds as scale_by_folds() takes them.
SpanChoice choice_by_folds(const VectorColumns& x, const SpanImages& images, const PldaAdaptation& adaptation) {
  const auto dims = static_cast<double>(images.features.size(1));
  const double usual = isotropic_degrees(adaptation, dims, images.labelled(), images.classes());
  const std::vector<double> distances = fold_distances(x, images);
  const double weight = class_mean_weight(adaptation, images.labelled(), images.classes());
  std::vector<SpanModel> folds;
  std::vector<int64_t> answered;
  const double largest = *std::max_element(images.count.begin(), images.count.end());
  const int64_t fewest = fewest_of_folds(static_cast<int64_t>(largest));
  for (const ImageFold& fold : image_folds(distances, images.labels, images.classes(), fewest)) {
    folds.push_back(span_model(x, images, fold.kept, fold.left_out, weight));
    for (const int64_t i : fold.left_out) answered.push_back(images.labels[static_cast<size_t>(i)]);
  }
  const double unknown = scale_without_folds(adaptation, usual, images.labelled(), images.classes());
  if (folds.empty()) return {usual, unknown};
  const auto loss = [&](double nu) {
    std::vector<double> logs;
    for (const SpanModel& fold : folds) {
      const std::vector<double> scores = linear_scores(fold, nu);
      logs.insert(logs.end(), scores.begin(), scores.end());
    }
    return most_likely_scale(logs, answered, images.classes());
  };
  const ScaledLoss first = loss(usual), firmer = loss(kFirmer * usual);
  const bool is_firmer = surely_less(firmer.loss, first.loss);
  const double found = is_firmer ? firmer.scale : first.scale;
  return {is_firmer ? kFirmer * usual : usual, fewest < kFewestOfFolds ? unknown : found};
}

}  // namespace

std::optional<EpisodeScores> answer_in_own_span(const EpisodeBatch& episode, const PldaAdaptation& adaptation,
                                                double scale) {
  if (!are_plain_rows(episode.support.squeeze(0)) || !are_plain_rows(episode.query)) return std::nullopt;
  const std::optional<SpanImages> images = span_images(episode);
  if (!images || images->labelled() > kMostImages) return std::nullopt;
  const auto coordinates =
      span_coordinates(*images, isotropic_center_share(adaptation, images->classes(), images->root));
  if (!coordinates) return std::nullopt;
  const SpanCoordinates& x = *coordinates;
  std::vector<int64_t> labelled(images->labels.size()), queries(x.outside.size() - labelled.size());
  std::iota(labelled.begin(), labelled.end(), 0);
  std::iota(queries.begin(), queries.end(), images->labelled());
  const SpanChoice choice = choice_by_folds(x.in, *images, adaptation);
  const SpanModel model = span_model(x.in, *images, labelled, queries,
                                     class_mean_weight(adaptation, images->labelled(), images->classes()));
  const std::vector<double> outside(x.outside.begin() + images->labelled(), x.outside.end());
  std::vector<double> scores = linear_scores(model, choice.nu);
  const SharedScores shared = shared_scores(model, choice.nu, outside);
  for (size_t i = 0; i < scores.size(); ++i) scores[i] += shared.of_classes[i / images->count.size()];
  return scaled_scores(scores, shared.never_seen, images->classes(),
                       {scale > 0 ? scale : choice.scale, choice.scale, false, {choice.scale, 0, 0}});
}

}  // namespace protocom
