#include "training/pretrain.h"

#include "base/enum_words.h"
#include "base/error.h"
#include "training/torch_functions.h"

namespace protocom {
namespace {

constexpr EnumWord<PretrainMethod> kPretrainMethods[] = {{PretrainMethod::kClassification, "classification"},
                                                         {PretrainMethod::kCpde, "cpde"}};
constexpr EnumWord<Initialisation> kInitialisations[] = {{Initialisation::kKaiming, "kaiming"},
                                                         {Initialisation::kWhitened, "whitened"}};
constexpr EnumWord<AugmentOn> kAugmentOn[] = {
    {AugmentOn::kAuto, "auto"}, {AugmentOn::kHost, "host"}, {AugmentOn::kDevice, "device"}};

constexpr int64_t kSmallestGrowing = 16;  // pixels: the feature map of a residual network of 12 layers is then 1 x 1

void check_cpde(const PretrainRecipe& options) {
  const CpdeOptions& cpde = options.cpde;
  if (!(cpde.enhancing >= 0 && cpde.enhancing <= 100))
    fail_usage("enhancing: expected a number in [0, 100], found {}", cpde.enhancing);
  if (!(cpde.order_weight >= 0)) fail_usage("weight of the order: expected at least 0, found {}", cpde.order_weight);
  if (options.method == PretrainMethod::kCpde && options.rotation == RotationTask::kOn)
    fail_usage("CPDE cannot be combined with rotations: the order of splits is its second task");
}

void check_pretrain(const PretrainRecipe& options) {
  if (options.schedule.epochs < 1) fail_usage("pre-training needs at least 1 epoch, found {}", options.schedule.epochs);
  if (options.batch < 2)
    fail_usage("pre-training needs a batch of at least 2 images (batch norm), found {}", options.batch);
  if (!(options.schedule.learning_rate >= 0)) {
    fail_usage("learning rate: expected a number above 0, or 0 for {:g} x batch / 128, found {}", kPretrainRate,
               options.schedule.learning_rate);
  }
  if (!(options.schedule.warm_up >= 0 && options.schedule.warm_up < 1))
    fail_usage("warm-up: expected a number in [0, 1), found {}", options.schedule.warm_up);
  if (!(options.sgd.momentum > 0 && options.sgd.momentum < 1))
    fail_usage("momentum: expected a number between 0 and 1, found {}", options.sgd.momentum);
  if (!(options.sgd.weight_decay >= 0))
    fail_usage("weight decay: expected at least 0, found {}", options.sgd.weight_decay);
  if (!(options.label_smoothing >= 0 && options.label_smoothing < 1)) {
    fail_usage("label smoothing: expected a number in [0, 1), found {}", options.label_smoothing);
  }
  if (!(options.bias_rate > 0 && options.bias_rate <= 1000))
    fail_usage("learning rate of biases: expected more than 0 and at most 1000 times the learning rate, found {}",
               options.bias_rate);
  check_cpde(options);
  const AugmentOptions& augment = options.augment;
  if (!(augment.crop_padding >= 0 && augment.crop_padding < 1) ||
      !(augment.colour_jitter >= 0 && augment.colour_jitter <= 1) ||
      !(augment.flip_probability >= 0 && augment.flip_probability <= 1)) {
    fail_usage(
        "crop padding, colour jitter and flip probability: expected numbers in [0, 1), [0, 1] and [0, 1], found {}, {} "
        "and {}",
        augment.crop_padding, augment.colour_jitter, augment.flip_probability);
  }
}

/// Fills in the images' size and the default learning rate.
PretrainRecipe resolved(PretrainRecipe options, const PackedImages& images) {
  options.backbone.image_size = images.image_size();
  options.backbone.resize = images.resize;
  options.backbone.squeeze = images.squeeze;
  double& rate = options.schedule.learning_rate;
  if (rate == 0) rate = usual_rate(options);
  return options;
}

/// Takes resolved options.
void check_growth(const PretrainRecipe& options) {
  const ImageGrowth& growth = options.growth;
  if (growth.first_side == 0) return;
  const int64_t side = options.backbone.image_size;
  const int64_t smallest = kSmallestGrowing * (options.method == PretrainMethod::kCpde ? 2 : 1);  // CPDE quarters them
  if (growth.first_side < smallest || growth.first_side > side)
    fail_usage("first side of growing images: expected {} to {} pixels, found {}", smallest, side, growth.first_side);
  if (!(growth.share > 0 && growth.share <= 1))
    fail_usage("share of the epochs in which images grow: expected a number in (0, 1], found {}", growth.share);
  if (options.backbone.architecture == "conv4")
    fail_usage("conv4 cannot be trained on growing images: the size of its features depends on the image's");
}

}  // namespace

double usual_rate(const PretrainRecipe& options) { return kPretrainRate * static_cast<double>(options.batch) / 128; }

PretrainResult pretrain(const PackedImages& images, const PretrainRecipe& options, const TrainingFiles& files,
                        Progress& progress) {
  check_pretrain(options);
  if (files.out.empty()) fail_usage("pre-training needs a file to write the backbone to");
  const PretrainRecipe settings = resolved(options, images);
  check_growth(settings);
  return torch_pretrain(images, settings, files, progress);
}

PretrainMethod parse_pretrain_method(std::string_view text) { return value_of(kPretrainMethods, text, "pre-training"); }

std::string_view to_string(PretrainMethod method) { return word_of(kPretrainMethods, method); }

Initialisation parse_initialisation(std::string_view text) {
  return value_of(kInitialisations, text, "initialisation");
}

std::string_view to_string(Initialisation initialisation) { return word_of(kInitialisations, initialisation); }

AugmentOn parse_augment_on(std::string_view text) { return value_of(kAugmentOn, text, "place of augmentation"); }

std::string_view to_string(AugmentOn where) { return word_of(kAugmentOn, where); }

}  // namespace protocom
