#include "training/metatrain.h"

#include "base/enum_words.h"
#include "base/error.h"
#include "fewshot/methods.h"
#include "training/torch_functions.h"

namespace protocom {
namespace {

constexpr EnumWord<BatchNormStatistics> kBatchNormStatistics[] = {{BatchNormStatistics::kRunning, "running"},
                                                                  {BatchNormStatistics::kBatch, "batch"}};
constexpr EnumWord<AttributeStatistics> kAttributeStatistics[] = {{AttributeStatistics::kRecomputed, "recomputed"},
                                                                  {AttributeStatistics::kKept, "kept"}};

void check_metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options) {
  if (options.schedule.epochs < 1 || options.batches < 1 || options.episodes < 1)
    fail_usage("epochs, batches and episodes: expected at least 1 of each, found {}, {} and {}",
               options.schedule.epochs, options.batches, options.episodes);
  const EpisodeShape& shape = options.episode;
  if (shape.n_way < 2 || shape.k_shot < 1 || shape.n_query < 1)
    fail_usage("an episode needs at least 2 ways, 1 shot and 1 query, found {}, {} and {}", shape.n_way, shape.k_shot,
               shape.n_query);
  if (!(options.scale > 0)) fail_usage("scale: expected a number above 0, found {}", options.scale);
  if (!make_method(options.head)->spec().has(Need::kCompletionModel)) return;
  if (inputs.model == nullptr || inputs.knowledge == nullptr)
    fail_usage("the head '{}' needs a completion model and knowledge", options.head);
  const int64_t expected = inputs.model->sizes.feature_dim;
  if (expected != inputs.encoder.dim())
    fail("the model completes features of {} dimensions, the backbone gives {}", expected, inputs.encoder.dim());
}

}  // namespace

MetatrainResult metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options, const MetatrainFiles& files,
                          Progress& progress) {
  check_metatrain(inputs, options);
  return torch_metatrain(inputs, options, files, progress);
}

BatchNormStatistics parse_batch_norm_statistics(std::string_view text) {
  return value_of(kBatchNormStatistics, text, "batch-norm statistics");
}

std::string_view to_string(BatchNormStatistics statistics) { return word_of(kBatchNormStatistics, statistics); }

AttributeStatistics parse_attribute_statistics(std::string_view text) {
  return value_of(kAttributeStatistics, text, "attribute statistics");
}

std::string_view to_string(AttributeStatistics statistics) { return word_of(kAttributeStatistics, statistics); }

}  // namespace protocom
