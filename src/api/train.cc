#include "protocom/train.h"

#include "api/detail/boundary.h"
#include "api/detail/parts.h"
#include "base/error.h"
#include "datasets/image_source.h"
#include "io/files.h"
#include "training/complete.h"
#include "training/pretrain.h"

namespace protocom::v0 {
namespace {

protocom::TrainingFiles files_of(const std::string& out, const char* command, uint64_t seed) {
  if (out.empty()) fail_usage("missing output file of the training");
  check_writable(out);
  protocom::TrainingFiles files;
  files.out = out;
  files.provenance.command = command;
  files.provenance.seed = seed;
  return files;
}

protocom::PretrainRecipe recipe_of(const PretrainOptions& given) {
  protocom::PretrainRecipe recipe;
  recipe.backbone.architecture = given.architecture;
  recipe.schedule.epochs = given.epochs;
  recipe.schedule.learning_rate = given.learning_rate;
  recipe.batch = given.batch;
  recipe.validation.episodes = given.validation_episodes;
  recipe.device = given.device;
  recipe.seed = given.seed;
  return recipe;
}

/// Checks ranges that the training itself does not check.
void check_complete(const CompleteOptions& given) {
  if (given.epochs < 1 || given.batches < 1 || given.shots < 1)
    fail_usage("epochs, batches and shots: expected at least 1 of each, found {}, {} and {}", given.epochs,
               given.batches, given.shots);
  if (!(given.learning_rate > 0)) fail_usage("learning rate: expected a number above 0, found {}", given.learning_rate);
  if (given.validation_episodes < 0)
    fail_usage("validation episodes: expected at least 0, found {}", given.validation_episodes);
}

}  // namespace

PretrainResult pretrain(const std::string& images, const std::string& out, const PretrainOptions& options,
                        const Progress& progress) {
  return with_warnings([&] {
    CallerProgress reported(progress);
    if (options.image_size < 0) fail_usage("image size: expected at least 1, found {}", options.image_size);
    const protocom::TrainingFiles files = files_of(out, "pretrain", options.seed);
    protocom::ImageSource source;
    source.path = images;
    if (!options.split.empty()) source.dataset.split = options.split;
    source.sizes.image_size = options.image_size;
    const protocom::PackedImages packed = load_images(source, reported);
    return protocom::pretrain(packed, recipe_of(options), files, reported);
  });
}

CompleteResult complete(const FeatureSet& features, const Knowledge& knowledge, const std::string& out,
                        const CompleteOptions& options, const Progress& progress) {
  return with_warnings([&] {
    CallerProgress reported(progress);
    check_complete(options);
    const protocom::TrainingFiles files = files_of(out, "complete", options.seed);
    protocom::CompleteRecipe recipe;
    recipe.schedule.epochs = options.epochs;
    recipe.schedule.learning_rate = options.learning_rate;
    recipe.batches = options.batches;
    recipe.k_shot = options.shots;
    recipe.validation.episodes = options.validation_episodes;
    recipe.seed = options.seed;
    const protocom::CompletionTraining made =
        train_completion({features.impl().set, *knowledge.impl().knowledge}, recipe, files, reported);
    write_completion_model(out, made.model, files.provenance, {{"kept_epoch", made.kept_epoch}});
    return CompleteResult{made.kept_epoch, made.epochs[static_cast<size_t>(made.kept_epoch - 1)].loss, {}};
  });
}

}  // namespace protocom::v0
