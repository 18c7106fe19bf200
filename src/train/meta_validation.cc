#include "train/meta_validation.h"

#include <algorithm>

#include "protocom/core/log.h"
#include "protocom/features/extract.h"
#include "train/image_subset.h"
#include "train/together.h"

namespace protocom {

MetaValidation::MetaValidation(const PackedImages& images, const MetatrainOptions& options) : options_(options) {
  if (options.validation_episodes < 1) return;
  const auto rows = rows_of_split(images, Split::kVal, options.validation_images);
  if (rows.empty()) {
    logger().warn("no val classes to validate on: the last epoch is kept");
    return;
  }
  images_ = subset(images, rows);
  episodes_ = sample_episodes(without_features(images_), Split::kVal, options.validation, options.validation_episodes,
                              options.seed);
}

std::vector<ValidationRow> MetaValidation::run(Backbone& backbone, const CompletionModel* model,
                                               const ClassKnowledge* classes) const {
  ExtractOptions extract;
  extract.device = device_of(*options_.group, options_.device);
  extract.group = options_.group;
  extract.precision = options_.precision;
  const FeatureSet features = extract_features(backbone, images_, extract, Progress::none());
  std::vector<std::string> methods = model == nullptr ? std::vector<std::string>{"mean"} : paper_rows();
  const std::string head = make_method(options_.head)->label();
  if (std::find(methods.begin(), methods.end(), head) == methods.end()) methods.push_back(head);
  EvaluateOptions evaluation;
  evaluation.methods = make_methods(methods);
  std::vector<ValidationRow> rows;
  for (const auto& scores : evaluate({features, model, classes}, *episodes_, evaluation, Progress::none()))
    rows.push_back({scores.method, estimate(scores.accuracy)});
  return rows;
}

}  // namespace protocom
