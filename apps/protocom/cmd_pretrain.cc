#include "cli.h"
#include "dataset_options.h"
#include "job.h"
#include "training/pretrain.h"
#include "training_options.h"

namespace protocom::cli {
namespace {

struct PretrainArguments {
  DatasetOptions source;
  std::string out;
  int64_t image_size = 0;
  PretrainRecipe pretrain;
  bool rotation = false;
  bool sync_batch_norm = false;
  TrainingOptions training;
};

void print_result(const PretrainResult& result, const TrainingFiles& files) {
  std::vector<std::vector<std::string>> rows = {
      {result.validation_accuracy ? "best backbone" : "backbone",
       fmt::format("{} (epoch {})", files.out.string(), result.best_epoch)},
      {"last backbone", files.last().string()},
      {"log", files.log().string()},
      {"loss", fmt::format("{:.3f}", result.loss)},
      {"accuracy on base classes", fmt::format("{:.1f} %", 100 * result.accuracy)},
      {"speed", fmt::format("{:.0f} images/s", result.images_per_second)}};
  if (result.validation_accuracy)
    rows.push_back({"validation episodes", fmt::format("{:.2f} %", 100 * *result.validation_accuracy)});
  print_table(rows);
}

void run_pretrain(const CLI::App& command, PretrainArguments& options) {
  options.pretrain.rotation = options.rotation ? RotationTask::kOn : RotationTask::kOff;
  options.pretrain.group = &job();
  options.pretrain.batch_norm = options.sync_batch_norm ? BatchNormOver::kBatch : BatchNormOver::kShare;
  if (job().is_main()) check_writable(options.out);
  Provenance provenance = provenance_of(command, options.pretrain.seed);
  const PackedImages images = load_images(options.source, {options.image_size}, provenance);
  const TrainingFiles files = training_files(options.out, options.training, std::move(provenance));
  print_result(pretrain(images, options.pretrain, files, progress()), files);
}

void add_recipe(CLI::App& command, PretrainArguments& options) {
  PretrainRecipe& recipe = options.pretrain;
  add_recipe_options(command, recipe.schedule, recipe.sgd);
  command.get_option("--lr")->description(
      fmt::format("Learning rate after the warm-up; 0: {:g} for each 128 images of --batch", kPretrainRate));
  add_word(command, "--method", recipe.method, &parse_pretrain_method,
           "classification, or cpde: a cosine classifier on enhanced features and the order of quarters");
  command.add_option("--enhancing", recipe.cpde.enhancing,
                     "cpde: strength of enhancing; use the same in `cpde:strength=...`");
  command.add_option("--order-weight", recipe.cpde.order_weight, "cpde: weight of the cross-entropy of the order");
  command.add_option("--architecture", recipe.backbone.architecture,
                     "resnet12, resnet12-wide, conv4, or resnet18 to resnet152 as torchvision has them");
  add_word(command, "--schedule", recipe.schedule.shape, &parse_schedule_shape, describe_shapes(recipe.schedule));
  command.add_option("--warm-up", recipe.schedule.warm_up, "Share of all steps in which the rate rises from 0");
  command.add_option("--batch", recipe.batch, "Images a step, of all processes together");
  add_word(command, "--initialisation", recipe.initialisation, &parse_initialisation,
           "kaiming, or whitened: principal components of patches of base images, then identities");
  command.add_option("--bias-rate", recipe.bias_rate, "Learning rate of batch norm biases, a multiple of --lr");
  command.add_option("--label-smoothing", recipe.label_smoothing, "Label smoothing of the cross-entropy");
  command.add_flag("--sync-batch-norm", options.sync_batch_norm,
                   "With several processes: batch statistics over the whole batch in place of each process's part");
  command.add_flag("--rotation", options.rotation, "Add the 4-way rotation head: loss = 0.5 CE + 0.5 CE_rot");
  command.add_option("--crop-padding", recipe.augment.crop_padding,
                     "Border of the random crop, a fraction of the side");
  command.add_option("--grow-from", recipe.growth.first_side,
                     "Side of the images in the first epoch, pixels, growing to their own; 0: no growth");
  command.add_option("--grow-share", recipe.growth.share, "Share of the epochs in which they grow");
  command.add_option("--colour-jitter", recipe.augment.colour_jitter, "Range of brightness, contrast and saturation");
}

void add_pretrain_command(CLI::App& app) {
  auto options = std::make_shared<PretrainArguments>();
  CLI::App* command = add_command(app, "pretrain", "Train a backbone on the base classes",
                                  "protocom pretrain --images images.pack --out backbone.npz --epochs 100");
  PretrainRecipe& recipe = options->pretrain;
  add_dataset_options(*command, options->source, "Pack (protocom pack), or folder of images");
  add_strict(*command, options->source);
  command->add_option("--image-size", options->image_size, "Side of the images, pixels; 0: the pack's, or 84");
  add_output_option(*command, "--out", options->out, "Backbone to write (best epoch); beside it OUT.last and OUT.jsonl")
      ->required();
  add_recipe(*command, *options);
  add_validation_options(*command, recipe.validation);
  add_word(*command, "--precision", recipe.precision, &parse_precision, "auto, float32 or bfloat16");
  command->add_option("--device", recipe.device, "auto, cpu or cuda");
  add_word(*command, "--augment-on", recipe.augment_on, &parse_augment_on,
           "Where images are augmented: host (worker threads), device (whole batches), auto (device on a GPU)");
  command->add_option("--workers", recipe.workers, "Threads that prepare batches; 0: as many as the device needs");
  command->add_option("--seed", recipe.seed, "Seed of weights, order, augmentation and episodes");
  add_training_options(*command, options->training);
  command->callback([command, options] { run_pretrain(*command, *options); });
}

const Command kPretrain{Group::kTraining, 10, &add_pretrain_command};

}  // namespace
}  // namespace protocom::cli
