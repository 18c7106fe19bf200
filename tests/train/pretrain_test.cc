#include "protocom/train/pretrain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>

#include "protocom/core/error.h"
#include "protocom/core/npz.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSide = 16;

/// Classes told apart by which half of a noisy image, upper or lower, is bright in which colour.
PackedImages halves(int64_t base_classes, int64_t val_classes, int64_t images_per_class) {
  const int64_t classes = base_classes + val_classes;
  torch::manual_seed(11);
  PackedImages pack;
  pack.pixels = at::randint(0, 60, {classes * images_per_class, kSide, kSide, 3}, at::kByte);
  pack.labels = at::arange(classes, at::kLong).repeat_interleave(images_per_class);
  for (int64_t row = 0; row < pack.pixels.size(0); ++row) {
    const int64_t c = row / images_per_class;
    const int64_t top = c % 2 * kSide / 2;
    pack.pixels[row].slice(0, top, top + kSide / 2).select(2, c / 2 % 3).add_(150);
    pack.image_ids.push_back(std::to_string(row));
  }
  for (int64_t c = 0; c < classes; ++c) {
    pack.class_names.push_back("class-" + std::to_string(c));
    pack.class_split.push_back(c < base_classes ? Split::kBase : Split::kVal);
  }
  return pack;
}

PretrainOptions quick() {
  PretrainOptions options;
  options.backbone.architecture = "conv4";
  options.schedule.epochs = 4;
  options.schedule.learning_rate = 0.05;
  options.batch = 16;
  options.precision = Precision::kFloat32;
  options.device = "cpu";
  options.validation.episodes = 20;
  return options;
}

PretrainFiles into(const std::filesystem::path& path, Resume resume = Resume::kNo) {
  PretrainFiles files;
  files.best = path;
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
    if (!at::equal(a.tensor(name), b.tensor(name))) return false;
  }
  return true;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Pulls the plug in the middle of an epoch.
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

TEST(Pretrain, LearnsToTellSimpleClassesApart) {
  const testing::TempDir folder;
  PretrainOptions options = quick();
  options.schedule.epochs = 6;
  const PretrainFiles files = into(folder / "b.npz");
  const PretrainResult result = pretrain(halves(4, 0, 32), options, files, Progress::none());
  const auto log = read_log(files.log());
  ASSERT_EQ(log.size(), 6U);
  EXPECT_LT(result.loss, 0.3 * log.front().at("loss").get<double>());
  EXPECT_GT(result.accuracy, 0.95);
  EXPECT_EQ(result.epochs, 6);
}

TEST(Pretrain, WritesTheBestAndTheLastBackboneAndALineAnEpoch) {
  const testing::TempDir folder;
  const PretrainFiles files = into(folder / "b.npz");
  const PretrainResult result = pretrain(halves(4, 2, 32), quick(), files, Progress::none());
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
  EXPECT_EQ(read_backbone(files.best, {})->image_size(), kSide);
  EXPECT_EQ(read_backbone(files.last(), {})->image_size(), kSide);
  EXPECT_DOUBLE_EQ(log[2].at("learning_rate").get<double>(), 0.005) << "60 % of 4 epochs, rounded, is epoch 2";
}

TEST(Pretrain, WithoutValClassesTheLastEpochIsTheBest) {
  const testing::TempDir folder;
  const PretrainFiles files = into(folder / "b.npz");
  const PretrainResult result = pretrain(halves(4, 0, 16), quick(), files, Progress::none());
  EXPECT_EQ(result.best_epoch, 4);
  EXPECT_FALSE(result.validation_accuracy.has_value());
  EXPECT_TRUE(same_weights(files.best, files.last()));
}

TEST(Pretrain, TheSameSeedGivesTheSameWeightsHoweverManyWorkersPrepareBatches) {
  const testing::TempDir folder;
  PretrainOptions options = quick();
  const PackedImages images = halves(4, 0, 16);
  pretrain(images, options, into(folder / "one.npz"), Progress::none());
  options.workers = 3;
  pretrain(images, options, into(folder / "three.npz"), Progress::none());
  EXPECT_TRUE(same_weights(folder / "one.npz", folder / "three.npz"));
  options.seed = 2;
  pretrain(images, options, into(folder / "other.npz"), Progress::none());
  EXPECT_FALSE(same_weights(folder / "one.npz", folder / "other.npz"));
}

TEST(Pretrain, ATrainingThatWasCutOffGoesOnToTheSameWeights) {
  const testing::TempDir folder;
  const PackedImages images = halves(4, 2, 16);
  const PretrainResult whole = pretrain(images, quick(), into(folder / "whole.npz"), Progress::none());
  CutOff plug(/*step=*/10);  // in the third epoch of four steps each
  EXPECT_THROW(pretrain(images, quick(), into(folder / "cut.npz"), plug), std::runtime_error);
  const PretrainResult resumed =
      pretrain(images, quick(), into(folder / "cut.npz", Resume::kIfThere), Progress::none());
  EXPECT_TRUE(same_weights(folder / "whole.npz.last", folder / "cut.npz.last"));
  EXPECT_TRUE(same_weights(folder / "whole.npz", folder / "cut.npz"));
  EXPECT_EQ(resumed.best_epoch, whole.best_epoch);
  EXPECT_EQ(resumed.validation_accuracy, whole.validation_accuracy);
  EXPECT_EQ(read_log(folder / "cut.npz.jsonl").size(), 4U);
}

TEST(Pretrain, DoesNotGoOnWithATrainingOfOtherOptions) {
  const testing::TempDir folder;
  const PackedImages images = halves(2, 0, 16);
  PretrainOptions options = quick();
  options.schedule.epochs = 1;
  pretrain(images, options, into(folder / "b.npz"), Progress::none());
  options.weight_decay = 0.25;
  EXPECT_THAT(
      message_of([&] { pretrain(images, options, into(folder / "b.npz", Resume::kIfThere), Progress::none()); }),
      HasSubstr("weight_decay was 0.0005, is 0.25"));
}

TEST(Pretrain, LearnsTheRotationsBesideTheClasses) {
  const testing::TempDir folder;
  PretrainOptions options = quick();
  options.rotation = RotationTask::kOn;
  options.augment = {0, 0, 0};
  options.schedule.epochs = 10;
  const PretrainFiles files = into(folder / "b.npz");
  const PretrainResult result = pretrain(halves(2, 0, 64), options, files, Progress::none());
  // Upside down one class looks like the other, so half of the loss cannot reach 0 by the classes alone; it starts near
  // (ln 2 + ln 4) / 2 = 1.04.
  EXPECT_LT(result.loss, 0.8);
  EXPECT_GT(read_log(files.log()).front().at("loss").get<double>(), result.loss);
}

TEST(Pretrain, RunsInBFloat16) {
  const testing::TempDir folder;
  PretrainOptions options = quick();
  options.precision = Precision::kBFloat16;
  options.schedule.epochs = 6;
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
  PretrainOptions options = quick();
  options.schedule.learning_rate = 1e30;
  EXPECT_THAT(message_of([&] { pretrain(halves(4, 0, 16), options, into(folder / "b.npz"), Progress::none()); }),
              HasSubstr("at epoch 1, step "));
  EXPECT_FALSE(std::filesystem::exists(folder / "b.npz"));
}

TEST(Pretrain, RefusesTooFewBaseClassesAndOptionsOutOfRange) {
  const testing::TempDir folder;
  const PretrainFiles files = into(folder / "b.npz");
  const auto run = [&](const PackedImages& images, const PretrainOptions& options) {
    pretrain(images, options, files, Progress::none());
  };
  EXPECT_THAT(message_of([&] { run(halves(1, 3, 8), quick()); }), HasSubstr("at least 2 base classes, found 1"));
  PackedImages hole = halves(2, 0, 8);
  hole.class_names.emplace_back("ghost");
  hole.class_split.push_back(Split::kBase);
  EXPECT_THAT(message_of([&] { run(hole, quick()); }), HasSubstr("base class 'ghost' has no images"));
  PretrainOptions options = quick();
  options.schedule.epochs = 0;
  EXPECT_THROW(run(halves(2, 0, 8), options), UsageError);
  options = quick();
  options.batch = 1;
  EXPECT_THROW(run(halves(2, 0, 8), options), UsageError);
  options = quick();
  options.validation.n_way = 1;
  EXPECT_THROW(run(halves(2, 2, 8), options), UsageError);
}

}  // namespace
}  // namespace protocom
