#include "training/pretrain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <csignal>
#include <fstream>

#include "base/error.h"
#include "io/files.h"
#include "io/npz.h"
#include "networks/backbone.h"
#include "support/bfloat16.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/stop_at.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"
#include "trainers/detail/resize_images.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kImageSide = 16;

/// Returns classes that differ in which half of a noisy image, upper or lower, is bright in which colour.
PackedImages halves(int64_t base_classes, int64_t val_classes, int64_t images_per_class, int64_t side = kImageSide) {
  const int64_t classes = base_classes + val_classes;
  torch::manual_seed(11);
  PackedImages pack;
  const at::Tensor pixels = at::randint(0, 60, {classes * images_per_class, side, side, 3}, at::kByte);
  pack.pixels = array_of(pixels);
  pack.labels = numbers_of(at::arange(classes, at::kLong).repeat_interleave(images_per_class));
  for (int64_t row = 0; row < pack.pixels.size(0); ++row) {
    const int64_t c = row / images_per_class;
    const int64_t top = c % 2 * side / 2;
    pixels[row].slice(0, top, top + side / 2).select(2, c / 2 % 3).add_(150);
    pack.image_ids.push_back(std::to_string(row));
  }
  for (int64_t c = 0; c < classes; ++c) {
    pack.class_names.push_back("class-" + std::to_string(c));
    pack.class_split.push_back(c < base_classes ? Split::kBase : Split::kVal);
  }
  return pack;
}

PretrainRecipe quick_pretraining() {
  PretrainRecipe options;
  options.backbone.architecture = "conv4";
  options.schedule = {};
  options.schedule.epochs = 4;
  options.schedule.learning_rate = 0.05;
  options.batch = 16;
  options.initialisation = Initialisation::kKaiming;
  options.bias_rate = 1;
  options.precision = Precision::kFloat32;
  options.device = "cpu";
  options.validation.episodes = 20;
  return options;
}

TrainingFiles into(const std::filesystem::path& path, Resume resume = Resume::kNo) {
  TrainingFiles files;
  files.out = path;
  files.provenance.command = "pretrain";
  files.resume = resume;
  return files;
}

std::vector<nlohmann::json> read_log(const std::filesystem::path& path) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

bool same_weights(const std::filesystem::path& one, const std::filesystem::path& other) {
  const NpzReader a(one), b(other);
  for (const auto& [name, tensor] : read_backbone(one, {})->state_dict()) {
    if (!at::equal(tensor_of(a.array(name)), tensor_of(b.array(name)))) return false;
  }
  return true;
}

/// Throws in the middle of an epoch.
class CutOff : public Progress {
 public:
  explicit CutOff(int64_t step) : step_(step) {}
  void start(std::string_view, int64_t) override {}
  void advance(int64_t done, std::string_view) override {
    if (done == step_) throw std::runtime_error("cut off");
  }
  void finish() override {}

 private:
  int64_t step_;
};

TEST(Pretrain, ItsBackboneTakesImagesAsTheyWerePacked) {
  const testing::TempDir folder;
  PackedImages images = halves(2, 0, 8);
  images.resize = 18;
  PretrainRecipe options = quick_pretraining();
  options.schedule.epochs = 1;
  pretrain(images, options, into(folder / "b.npz"), Progress::none());
  EXPECT_EQ(read_backbone(folder / "b.npz", {})->preprocessing().shorter_side(), 18);
}

TEST(Pretrain, LearnsToTellSimpleClassesApart) {
  const testing::TempDir folder;
  PretrainRecipe options = quick_pretraining();
  options.schedule.epochs = 6;
  const TrainingFiles files = into(folder / "b.npz");
  const PretrainResult result = pretrain(halves(4, 0, 32), options, files, Progress::none());
  const auto log = read_log(files.log());
  ASSERT_EQ(log.size(), 6U);
  EXPECT_LT(result.loss, 0.3 * log.front().at("loss").get<double>());
  EXPECT_GT(result.accuracy, 0.95);
  EXPECT_EQ(result.epochs, 6);
}

TEST(Pretrain, SaysThatItIsNotLearningWhereImagesShowNothing) {
  const testing::TempDir folder;
  PackedImages black = halves(6, 0, 8);
  tensor_of(black.pixels).zero_();
  PretrainRecipe options = quick_pretraining();
  options.schedule.epochs = 7;  // of 48 images: together the 300 that six classes need
  const testing::Logged heard;
  pretrain(black, options, into(folder / "b.npz"), Progress::none());
  EXPECT_THAT(heard.text(), HasSubstr("the learning rate 0.05 does not work; try --lr 0.00625"));
}

TEST(Pretrain, WritesTheBestAndTheLastBackboneAndALineAnEpoch) {
  const testing::TempDir folder;
  const TrainingFiles files = into(folder / "b.npz");
  const PretrainResult result = pretrain(halves(4, 2, 32), quick_pretraining(), files, Progress::none());
  const auto log = read_log(files.log());
  ASSERT_EQ(log.size(), 4U);
  double best = 0;
  int64_t best_epoch = 0;
  for (const auto& line : log) {
    if (line.at("validation_accuracy").get<double>() <= best) continue;
    best = line.at("validation_accuracy").get<double>();
    best_epoch = line.at("epoch").get<int64_t>();
  }
  EXPECT_EQ(result.best_epoch, best_epoch);
  EXPECT_DOUBLE_EQ(result.validation_accuracy.value(), best);
  EXPECT_EQ(read_backbone(files.out, {})->image_size(), kImageSide);
  EXPECT_EQ(read_backbone(files.last(), {})->image_size(), kImageSide);
  EXPECT_DOUBLE_EQ(log[2].at("learning_rate").get<double>(), 0.005) << "60 % of 4 epochs, rounded, is epoch 2";
}

TEST(Pretrain, TheRateFollowsTheBatchUnlessItIsStated) {
  const testing::TempDir folder;
  const PackedImages images = halves(2, 0, 16);
  const auto rate_with = [&](int64_t batch, double stated) {
    PretrainRecipe options = quick_pretraining();
    options.schedule.epochs = 1;
    options.schedule.learning_rate = stated;
    options.batch = batch;
    const TrainingFiles files = into(folder / "b.npz");
    pretrain(images, options, files, Progress::none());
    return read_log(files.log()).front().at("learning_rate").get<double>();
  };
  const double unstated = PretrainRecipe().schedule.learning_rate;
  const double rate = rate_with(32, unstated);
  EXPECT_GT(rate, 0);
  EXPECT_DOUBLE_EQ(rate_with(8, unstated), rate / 4);
  EXPECT_DOUBLE_EQ(rate_with(8, 0.3), 0.3);
}

TEST(Pretrain, ImagesGrowToTheirOwnSide) {
  const ImageGrowth growth{16, 0.5};
  std::vector<int64_t> sides;
  for (int64_t epoch = 0; epoch < 8; ++epoch) sides.push_back(growth.side_at(epoch, 8, 32));
  EXPECT_EQ(sides, (std::vector<int64_t>{16, 20, 24, 28, 32, 32, 32, 32}));
  EXPECT_EQ(ImageGrowth{}.side_at(0, 8, 32), 32);

  const at::Tensor plane = at::arange(8, at::kFloat).expand({1, 3, 8, 8}).contiguous();
  const at::Tensor half = resize_images(plane, 4);
  ASSERT_EQ(half.sizes(), (at::IntArrayRef{1, 3, 4, 4}));
  EXPECT_TRUE(at::allclose(half.select(3, 1), at::full({1, 3, 4}, 2.5)))
      << "a ramp stays one, sampled between its pixels";
  EXPECT_TRUE(resize_images(plane, 8).is_same(plane));
}

TEST(Pretrain, GrowingImagesTrainAndWhatCannotGrowIsRefused) {
  const testing::TempDir folder;
  PackedImages images = halves(2, 0, 8);
  images.pixels = array_of(tensor_of(images.pixels).repeat_interleave(2, 1).repeat_interleave(2, 2));
  PretrainRecipe options = quick_pretraining();
  options.growth.first_side = 16;
  const auto refusal = [&] {
    return message_of([&] { pretrain(images, options, into(folder / "b.npz"), Progress::none()); });
  };
  EXPECT_THAT(refusal(), HasSubstr("conv4 cannot be trained on growing images"));
  options.backbone.architecture = "resnet12";
  options.growth.first_side = 40;
  EXPECT_THAT(refusal(), HasSubstr("expected 16 to 32 pixels, found 40"));
  options.growth = {16, 0};
  EXPECT_THAT(refusal(), HasSubstr("share of the epochs"));

  options.growth = {16, 0.5};
  options.schedule.epochs = 2;
  const PretrainResult result = pretrain(images, options, into(folder / "b.npz"), Progress::none());
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(read_backbone(folder / "b.npz", {})->image_size(), 32);
  const TrainingFiles plain = into(folder / "plain.npz");
  options.growth = {};
  pretrain(images, options, plain, Progress::none());
  EXPECT_FALSE(same_weights(folder / "b.npz", plain.out));
}

TEST(Pretrain, WithoutValClassesTheLastEpochIsTheBest) {
  const testing::TempDir folder;
  const TrainingFiles files = into(folder / "b.npz");
  const PretrainResult result = pretrain(halves(4, 0, 16), quick_pretraining(), files, Progress::none());
  EXPECT_EQ(result.best_epoch, 4);
  EXPECT_FALSE(result.validation_accuracy.has_value());
  EXPECT_TRUE(same_weights(files.out, files.last()));
}

TEST(Pretrain, LeavesOutBaseClassesToValidateOnWhereThereAreNoValClassesAndSaysSo) {
  const testing::TempDir folder;
  const PackedImages images = halves(12, 0, 8);
  PretrainRecipe options = quick_pretraining();
  options.schedule.epochs = 1;
  {
    const TrainingFiles files = into(folder / "validated.npz");
    const testing::Logged heard;
    const PretrainResult result = pretrain(images, options, files, Progress::none());
    EXPECT_THAT(heard.text(),
                AllOf(HasSubstr("no val classes: validating on 4 of the base classes, which are not trained on "
                                "(--val-episodes 0 trains on all)"),
                      HasSubstr("64 base images of 8 classes")));
    ASSERT_TRUE(result.validation_accuracy.has_value());
    EXPECT_DOUBLE_EQ(read_log(files.log()).back().at("validation_accuracy"), *result.validation_accuracy);
  }
  options.validation.episodes = 0;
  const testing::Logged heard;
  const PretrainResult result = pretrain(images, options, into(folder / "alone.npz"), Progress::none());
  EXPECT_THAT(heard.text(),
              AllOf(::testing::Not(HasSubstr("not trained on")), HasSubstr("96 base images of 12 classes")));
  EXPECT_FALSE(result.validation_accuracy.has_value());
}

// Rate, warm-up, initialisation, rate of biases and augmentation are the defaults.
TEST(Pretrain, LearnsToTellSimpleClassesApartByItsDefaults) {
  const testing::TempDir folder;
  PretrainRecipe options;
  options.backbone.architecture = "conv4";
  options.schedule.epochs = 8;
  options.batch = 16;
  options.device = "cpu";
  const PretrainResult result = pretrain(halves(6, 0, 32), options, into(folder / "b.npz"), Progress::none());
  EXPECT_GT(result.accuracy, 0.8) << "guessing gets one in six";
}

TEST(Pretrain, TheSameSeedGivesTheSameWeightsHoweverManyWorkersPrepareBatches) {
  const testing::TempDir folder;
  PretrainRecipe options = quick_pretraining();
  const PackedImages images = halves(4, 0, 16);
  pretrain(images, options, into(folder / "one.npz"), Progress::none());
  options.workers = 3;
  pretrain(images, options, into(folder / "three.npz"), Progress::none());
  EXPECT_TRUE(same_weights(folder / "one.npz", folder / "three.npz"));
  options.seed = 2;
  pretrain(images, options, into(folder / "other.npz"), Progress::none());
  EXPECT_FALSE(same_weights(folder / "one.npz", folder / "other.npz"));
}

TEST(Pretrain, ImagesVariedOnTheDeviceTrainLikeThoseVariedOnTheHost) {
  const testing::TempDir folder;
  PretrainRecipe options = quick_pretraining();
  options.schedule.epochs = 2;
  options.schedule.learning_rate = 1e-9;  // so that the loss depends on the images, not on the course of the training
  options.rotation = RotationTask::kOn;
  const PackedImages images = halves(4, 0, 32);
  options.augment_on = AugmentOn::kHost;
  const PretrainResult host = pretrain(images, options, into(folder / "host.npz"), Progress::none());
  options.augment_on = AugmentOn::kDevice;
  const PretrainResult device = pretrain(images, options, into(folder / "device.npz"), Progress::none());
  EXPECT_NEAR(device.loss, host.loss, 1e-3 * host.loss);
}

TEST(Pretrain, ATrainingThatWasCutOffGoesOnToTheSameWeights) {
  const testing::TempDir folder;
  const PackedImages images = halves(4, 2, 16);
  const PretrainResult whole = pretrain(images, quick_pretraining(), into(folder / "whole.npz"), Progress::none());
  CutOff plug(/*step=*/10);  // in the third epoch of four steps each
  EXPECT_THROW(pretrain(images, quick_pretraining(), into(folder / "cut.npz"), plug), std::runtime_error);
  const PretrainResult resumed =
      pretrain(images, quick_pretraining(), into(folder / "cut.npz", Resume::kIfThere), Progress::none());
  EXPECT_TRUE(same_weights(folder / "whole.npz.last", folder / "cut.npz.last"));
  EXPECT_TRUE(same_weights(folder / "whole.npz", folder / "cut.npz"));
  EXPECT_EQ(resumed.best_epoch, whole.best_epoch);
  EXPECT_EQ(resumed.validation_accuracy, whole.validation_accuracy);
  EXPECT_EQ(read_log(folder / "cut.npz.jsonl").size(), 4U);
}

TEST(Pretrain, ATrainingThatIsStoppedAtEveryStepEndsWithTheSameBytes) {
  const testing::TempDir folder;
  const PackedImages images = halves(4, 2, 16);
  PretrainRecipe options = quick_pretraining();
  options.rotation = RotationTask::kOn;
  const PretrainResult whole = pretrain(images, options, into(folder / "whole.npz"), Progress::none());
  constexpr int64_t kSteps = 16;  // four epochs of four
  for (int64_t step = 1; step <= kSteps; ++step) {
    StopSignal signal;
    testing::StopAt stop(signal, step);
    TrainingFiles files = into(folder / "cut.npz", Resume::kIfThere);
    files.stop = &signal;
    torch::manual_seed(static_cast<uint64_t>(step));  // another process has another state of LibTorch's generator
    EXPECT_THROW(pretrain(images, options, files, stop), Interrupted) << step;
  }
  const PretrainResult resumed =
      pretrain(images, options, into(folder / "cut.npz", Resume::kIfThere), Progress::none());
  EXPECT_EQ(read_file(folder / "whole.npz"), read_file(folder / "cut.npz"));
  EXPECT_TRUE(same_weights(folder / "whole.npz.last", folder / "cut.npz.last"));
  EXPECT_EQ(resumed.best_epoch, whole.best_epoch);
  EXPECT_EQ(resumed.validation_accuracy, whole.validation_accuracy);
  EXPECT_EQ(resumed.loss, whole.loss) << "the sums of an epoch go on too";
  EXPECT_EQ(resumed.accuracy, whole.accuracy);
  EXPECT_EQ(read_log(folder / "cut.npz.jsonl").size(), 4U);
  EXPECT_FALSE(std::filesystem::exists(folder / "cut.npz.last.previous"));
}

TEST(Pretrain, DoesNotGoOnWithATrainingOfOtherOptions) {
  const testing::TempDir folder;
  const PackedImages images = halves(2, 0, 16);
  PretrainRecipe options = quick_pretraining();
  options.schedule.epochs = 1;
  pretrain(images, options, into(folder / "b.npz"), Progress::none());
  options.sgd.weight_decay = 0.25;
  EXPECT_THAT(
      message_of([&] { pretrain(images, options, into(folder / "b.npz", Resume::kIfThere), Progress::none()); }),
      HasSubstr("weight_decay was 0.0005, is 0.25"));
}

TEST(Pretrain, BeginsWhitenedOnBaseImagesAndGoesOnAsItBegan) {
  const testing::TempDir folder;
  const PackedImages images = halves(2, 0, 16);
  PretrainRecipe options = quick_pretraining();
  options.schedule.learning_rate = 1e-9;
  options.initialisation = Initialisation::kWhitened;
  pretrain(images, options, into(folder / "b.npz"), Progress::none());
  const at::Tensor first = read_backbone(folder / "b.npz", {})->state_dict().front().second;
  EXPECT_TRUE(at::allclose(first.slice(0, 0, 27), -first.slice(0, 27, 54), 0, 1e-6));
  EXPECT_FALSE(at::allclose(first.slice(0, 0, 10), -first.slice(0, 54, 64), 0, 1e-3));
  options.initialisation = Initialisation::kKaiming;
  EXPECT_THAT(
      message_of([&] { pretrain(images, options, into(folder / "b.npz", Resume::kIfThere), Progress::none()); }),
      HasSubstr("initialisation"));
}

TEST(Pretrain, BiasesTakeStepsOfTheirRate) {
  const testing::TempDir folder;
  const PackedImages images = halves(2, 0, 8);
  PretrainRecipe options = quick_pretraining();
  options.schedule.epochs = 1;
  options.batch = 16;  // one step
  const auto trained = [&](double rate) {
    options.bias_rate = rate;
    const std::filesystem::path out = folder / fmt::format("{}.npz", rate);
    pretrain(images, options, into(out), Progress::none());
    return read_backbone(out, {})->state_dict();
  };
  const auto once = trained(1), eightfold = trained(8);
  int64_t biases = 0;
  for (size_t i = 0; i < once.size(); ++i) {
    const auto& [name, tensor] = once[i];
    if (name.find(".conv.bias") != std::string::npos) continue;  // rounding errors without gradient
    const bool is_bias = name.find(".bias") != std::string::npos;
    biases += is_bias ? 1 : 0;
    EXPECT_TRUE(
        at::allclose(eightfold[i].second.to(at::kDouble), tensor.to(at::kDouble) * (is_bias ? 8 : 1), 1e-5, 1e-8))
        << name;
  }
  EXPECT_EQ(biases, 4);
}

TEST(Pretrain, LearnsTheRotationsBesideTheClasses) {
  const testing::TempDir folder;
  PretrainRecipe options = quick_pretraining();
  options.rotation = RotationTask::kOn;
  options.augment = {0, 0, 0};
  options.schedule.epochs = 10;
  const TrainingFiles files = into(folder / "b.npz");
  const PretrainResult result = pretrain(halves(2, 0, 64), options, files, Progress::none());
  // Upside down one class looks like the other, so half of the loss cannot reach 0 from the classes alone; it starts
  // near (ln 2 + ln 4) / 2 = 1.04.
  EXPECT_LT(result.loss, 0.8);
  EXPECT_GT(read_log(files.log()).front().at("loss").get<double>(), result.loss);
}

PretrainRecipe quick_cpde() {
  PretrainRecipe options = quick_pretraining();
  options.method = PretrainMethod::kCpde;
  options.cpde = {0.5, 1};
  return options;
}

TEST(Pretrain, CpdeLearnsClassesAndTheOrderOfSplits) {
  const testing::TempDir folder;
  PackedImages images = halves(4, 0, 32, 32);
  tensor_of(images.pixels).slice(1, 0, 16).slice(2, 0, 16).select(3, 2).add_(150);  // the first quarter is blue
  PretrainRecipe options = quick_cpde();
  options.schedule.epochs = 10;
  options.augment = {0, 0, 0};
  const TrainingFiles files = into(folder / "b.npz");
  const PretrainResult result = pretrain(images, options, files, Progress::none());
  EXPECT_GT(result.accuracy, 0.95);
  // A network that knows the place of one quarter has six orders left: log 6 = 1.8; one that knows nothing has log 24 =
  // 3.2.
  EXPECT_LT(result.loss, 2.5);
  EXPECT_GT(result.loss, std::log(2.0));
  for (const std::string& name : NpzReader(files.out).names())
    EXPECT_THAT(name, ::testing::Not(HasSubstr("cpde"))) << "a backbone as others";
}

TEST(Pretrain, ACpdeTrainingThatIsStoppedAtEveryStepEndsWithTheSameBytes) {
  const testing::TempDir folder;
  const PackedImages images = halves(4, 2, 16, 32);
  PretrainRecipe options = quick_cpde();
  options.schedule.epochs = 2;
  pretrain(images, options, into(folder / "whole.npz"), Progress::none());
  constexpr int64_t kSteps = 8;  // two epochs of four
  for (int64_t step = 1; step <= kSteps; ++step) {
    StopSignal signal;
    testing::StopAt stop(signal, step);
    TrainingFiles files = into(folder / "cut.npz", Resume::kIfThere);
    files.stop = &signal;
    torch::manual_seed(static_cast<uint64_t>(step));
    EXPECT_THROW(pretrain(images, options, files, stop), Interrupted) << step;
  }
  pretrain(images, options, into(folder / "cut.npz", Resume::kIfThere), Progress::none());
  EXPECT_EQ(read_file(folder / "whole.npz"), read_file(folder / "cut.npz"));
  EXPECT_TRUE(same_weights(folder / "whole.npz.last", folder / "cut.npz.last"));
}

TEST(Pretrain, CpdeDoesNotGoOnWithATrainingOfAnotherStrength) {
  const testing::TempDir folder;
  const PackedImages images = halves(2, 0, 16, 32);
  PretrainRecipe options = quick_cpde();
  options.schedule.epochs = 1;
  pretrain(images, options, into(folder / "b.npz"), Progress::none());
  options.cpde.enhancing = 0.25;
  EXPECT_THAT(
      message_of([&] { pretrain(images, options, into(folder / "b.npz", Resume::kIfThere), Progress::none()); }),
      HasSubstr("enhancing was 0.5, is 0.25"));
}

TEST(Pretrain, CpdeRefusesSmallImagesRotationsAndNumbersOutOfRange) {
  const testing::TempDir folder;
  const auto refuses = [&](const PretrainRecipe& options, int64_t side) {
    return message_of([&] { pretrain(halves(2, 0, 8, side), options, into(folder / "b.npz"), Progress::none()); });
  };
  EXPECT_THAT(refuses(quick_cpde(), 16), HasSubstr("at least 32 x 32 pixels"));
  PretrainRecipe options = quick_cpde();
  options.rotation = RotationTask::kOn;
  EXPECT_THAT(refuses(options, 32), HasSubstr("cannot be combined with rotations"));
  options = quick_cpde();
  options.cpde.enhancing = -1;
  EXPECT_THAT(refuses(options, 32), HasSubstr("in [0, 100], found -1"));
  options = quick_cpde();
  options.cpde.order_weight = -1;
  EXPECT_THAT(refuses(options, 32), HasSubstr("at least 0, found -1"));
  EXPECT_THROW(parse_pretrain_method("cpd"), UsageError);
}

TEST(Pretrain, RunsInBFloat16) {
  const testing::TempDir folder;
  PretrainRecipe options = quick_pretraining();
  options.precision = Precision::kBFloat16;
  options.schedule.epochs = 6;
  if (testing::refuses_bfloat16()) {
    EXPECT_THROW(pretrain(halves(4, 0, 32), options, into(folder / "b.npz"), Progress::none()), UsageError);
    return;
  }
  const PretrainResult result = pretrain(halves(4, 0, 32), options, into(folder / "b.npz"), Progress::none());
  EXPECT_GT(result.accuracy, 0.9);
  for (const auto& [name, tensor] : read_backbone(folder / "b.npz", {})->state_dict()) {
    if (name.find("weight") != std::string::npos) {
      EXPECT_EQ(tensor.scalar_type(), at::kFloat) << name;
    }
  }
}

TEST(Pretrain, NamesEpochAndStepWhenTheLossIsNotFinite) {
  const testing::TempDir folder;
  PretrainRecipe options = quick_pretraining();
  options.schedule.learning_rate = 1e30;
  EXPECT_THAT(message_of([&] { pretrain(halves(4, 0, 16), options, into(folder / "b.npz"), Progress::none()); }),
              AllOf(HasSubstr("at epoch 1, step "), HasSubstr("seed 1)"), HasSubstr("b.npz.last")));
  EXPECT_FALSE(std::filesystem::exists(folder / "b.npz"));
  for (const auto& [name, tensor] : read_backbone(folder / "b.npz.last", {})->state_dict())
    EXPECT_TRUE(at::isfinite(tensor).all().item<bool>()) << name;
}

TEST(Pretrain, RefusesTooFewBaseClassesAndOptionsOutOfRange) {
  const testing::TempDir folder;
  const TrainingFiles files = into(folder / "b.npz");
  const auto run = [&](const PackedImages& images, const PretrainRecipe& options) {
    pretrain(images, options, files, Progress::none());
  };
  EXPECT_THAT(message_of([&] { run(halves(1, 3, 8), quick_pretraining()); }),
              HasSubstr("at least 2 base classes, found 1"));
  PackedImages hole = halves(2, 0, 8);
  hole.class_names.emplace_back("ghost");
  hole.class_split.push_back(Split::kBase);
  EXPECT_THAT(message_of([&] { run(hole, quick_pretraining()); }), HasSubstr("base class 'ghost' has no images"));
  PretrainRecipe options = quick_pretraining();
  options.schedule.epochs = 0;
  EXPECT_THROW(run(halves(2, 0, 8), options), UsageError);
  options = quick_pretraining();
  options.schedule.learning_rate = -0.1;
  EXPECT_THROW(run(halves(2, 0, 8), options), UsageError);
  for (const double rate : {0.0, -1.0, 1001.0}) {
    options = quick_pretraining();
    options.bias_rate = rate;
    EXPECT_THROW(run(halves(2, 0, 8), options), UsageError) << rate;
  }
  options = quick_pretraining();
  options.batch = 1;
  EXPECT_THROW(run(halves(2, 0, 8), options), UsageError);
  options = quick_pretraining();
  options.validation.shape.n_way = 1;
  EXPECT_THROW(run(halves(2, 2, 8), options), UsageError);
}

}  // namespace
}  // namespace protocom
