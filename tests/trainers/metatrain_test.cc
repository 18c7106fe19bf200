#include "training/metatrain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <csignal>

#include "base/error.h"
#include "encoders/extract.h"
#include "heads/moments.h"
#include "io/files.h"
#include "networks/torch_encoder.h"
#include "support/file_limit.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/stop_at.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"
#include "trainers/detail/joint_models.h"
#include "training/complete.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

constexpr int64_t kPackSide = 16;
constexpr int64_t kBase = 6;
constexpr int64_t kVal = 4;
constexpr int64_t kPerClass = 12;

/// Returns classes that differ in the colours of the upper and the lower half of a noisy image.
PackedImages two_colours(int64_t base = kBase, int64_t val = kVal) {
  torch::manual_seed(11);
  PackedImages pack;
  const int64_t classes = base + val;
  const at::Tensor pixels = at::randint(0, 120, {classes * kPerClass, kPackSide, kPackSide, 3}, at::kByte);
  pack.pixels = array_of(pixels);
  pack.labels = numbers_of(at::arange(classes, at::kLong).repeat_interleave(kPerClass));
  for (int64_t row = 0; row < pack.pixels.size(0); ++row) {
    const int64_t c = row / kPerClass;
    pixels[row].slice(0, 0, kPackSide / 2).select(2, c % 3).add_(100);
    pixels[row].slice(0, kPackSide / 2, kPackSide).select(2, c / 3 % 3).add_(100);
    pack.image_ids.push_back(std::to_string(row));
  }
  for (int64_t c = 0; c < classes; ++c) {
    pack.class_names.push_back("class" + std::to_string(c));
    pack.class_split.push_back(c < base ? Split::kBase : Split::kVal);
  }
  return pack;
}

/// Returns upper and lower colour as six attributes.
Knowledge colours_of(const PackedImages& images) {
  torch::manual_seed(12);
  Knowledge knowledge;
  const auto classes = static_cast<int64_t>(images.class_names.size());
  knowledge.classes = images.class_names;
  knowledge.attributes = {"up0", "up1", "up2", "down0", "down1", "down2"};
  knowledge.association = array_of(at::zeros({classes, 6}));
  for (int64_t c = 0; c < classes; ++c)
    tensor_of(knowledge.association)[c][c % 3] = tensor_of(knowledge.association)[c][3 + c / 3 % 3] = 1;
  knowledge.class_embedding = array_of(at::randn({classes, 3}));
  knowledge.attribute_embedding = array_of(at::randn({6, 3}));
  return knowledge;
}

/// A backbone and a completion model as left by the previous stages.
struct JointWorld {
  PackedImages images = two_colours();
  Knowledge knowledge = colours_of(images);
  std::unique_ptr<Backbone> backbone;
  std::unique_ptr<TorchEncoder> encoder;  // shares the backbone
  std::optional<CompletionModel> model;
  TempDir folder;
  MetatrainFiles files;

  JointWorld() {
    torch::manual_seed(1);
    NetworkOptions options;
    options.architecture = "conv4";
    options.image_size = kPackSide;
    backbone = make_backbone(options);
    encoder = std::make_unique<TorchEncoder>(*backbone);
    CompleteRecipe quick;
    quick.schedule.epochs = 1;
    quick.batches = 5;
    quick.validation.episodes = 0;
    model = train_completion({extract_features(*encoder, images, {}, Progress::none()), knowledge}, quick, {},
                             Progress::none())
                .model;
    files.training.out = folder.path() / "joint.npz";
    files.model = folder.path() / "model.npz";
  }

  [[nodiscard]] MetatrainInputs inputs() { return {images, *encoder, &*model, &knowledge}; }
};

MetatrainOptions quick_joint() {
  MetatrainOptions options;
  options.schedule = {ScheduleShape::kStep, 3e-3, 3, {}};
  options.episode = {3, 1, 4};
  options.validation.shape = {3, 1, 5};
  options.validation.episodes = 20;
  options.batches = 4;
  options.episodes = 2;
  options.precision = Precision::kFloat32;
  options.seed = 4;
  return options;
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back(tensor.detach().clone());
  return all;
}

TEST(Metatrain, LowersTheLossOfItsEpisodesWithEveryHead) {
  for (const std::string& head : paper_rows()) {
    JointWorld world;
    MetatrainOptions options = quick_joint();
    options.head = head;
    options.schedule.epochs = 6;
    const MetatrainResult result = metatrain(world.inputs(), options, world.files, Progress::none());
    EXPECT_LT(result.epochs[6].loss, result.epochs[1].loss) << head;
  }
}

TEST(Metatrain, ChangesBackboneNetworkAndScaleTogether) {
  JointWorld world;
  MetatrainOptions options = quick_joint();
  options.validation.episodes = 0;
  const auto backbone = copies(world.backbone->parameters());
  std::vector<Array> network;
  for (const auto& [name, array] : world.model->weights) network.push_back(array.copy());
  const MetatrainResult result = metatrain(world.inputs(), options, world.files, Progress::none());
  EXPECT_EQ(result.kept_epoch, 3);
  for (size_t i = 0; i < backbone.size(); ++i) EXPECT_FALSE(backbone[i].equal(world.backbone->parameters()[i])) << i;
  const CompletionModel written = read_completion_model(world.files.model);
  for (size_t i = 0; i < network.size(); ++i) {
    const auto& [name, now] = world.model->weights[i];
    EXPECT_FALSE(tensor_of(network[i]).equal(tensor_of(now))) << name;
    EXPECT_TRUE(tensor_of(written.weight(name)).equal(tensor_of(now))) << name;
  }
  EXPECT_NE(result.epochs.back().scale, options.scale);
}

TEST(Metatrain, KeepsTheStartWhenNoEpochIsBetter) {
  JointWorld world;
  MetatrainOptions options = quick_joint();
  options.schedule.learning_rate = 1e-20;
  const auto backbone = copies(world.backbone->parameters());
  const MetatrainResult result = metatrain(world.inputs(), options, world.files, Progress::none());
  EXPECT_EQ(result.kept_epoch, 0);
  const auto written = read_backbone(world.files.training.out, {});
  for (size_t i = 0; i < backbone.size(); ++i) EXPECT_TRUE(backbone[i].equal(written->parameters()[i])) << i;
}

TEST(Metatrain, GivesTheSameWeightsForTheSameSeedAndOthersForAnother) {
  const auto weights = [](uint64_t seed) {
    JointWorld world;
    MetatrainOptions options = quick_joint();
    options.validation.episodes = 0;
    options.schedule.epochs = 1;
    options.seed = seed;
    metatrain(world.inputs(), options, world.files, Progress::none());
    return tensor_of(world.model->weight("encoder.weight").copy());
  };
  const at::Tensor first = weights(4);
  EXPECT_TRUE(first.equal(weights(4)));
  EXPECT_FALSE(first.equal(weights(5)));
}

TEST(Metatrain, RecomputesTheAttributesStatisticsWithTheTunedBackbone) {
  JointWorld world;
  MetatrainOptions options = quick_joint();
  options.validation.episodes = 0;
  options.statistics = AttributeStatistics::kRecomputed;
  metatrain(world.inputs(), options, world.files, Progress::none());
  const auto tuned = read_backbone(world.files.training.out, {});
  const CompletionModel model = read_completion_model(world.files.model);
  TorchEncoder encoder(*tuned);
  const FeatureSet features = extract_features(encoder, world.images, {}, Progress::none());
  // Classes 0 and 3 of the base have the upper colour 0.
  const at::Tensor all = tensor_of(features.features);
  const at::Tensor rows = at::cat({all.slice(0, 0, kPerClass), all.slice(0, 3 * kPerClass, 4 * kPerClass)});
  EXPECT_TRUE(at::allclose(tensor_of(model.attribute_mean)[0], rows.mean(0), 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(tensor_of(model.attribute_std)[0], rows.std(0), 1e-4, 1e-5));
  options.statistics = AttributeStatistics::kKept;
  JointWorld other;
  const at::Tensor before = tensor_of(other.model->attribute_mean.copy());
  metatrain(other.inputs(), options, other.files, Progress::none());
  EXPECT_TRUE(tensor_of(read_completion_model(other.files.model).attribute_mean).equal(before));
}

TEST(Metatrain, TrainsWithTheMeanHeadWithoutAnyKnowledge) {
  JointWorld world;
  MetatrainOptions options = quick_joint();
  options.head = "mean";
  world.files.model.clear();
  const MetatrainResult result =
      metatrain({world.images, *world.encoder, nullptr, nullptr}, options, world.files, Progress::none());
  EXPECT_EQ(result.epochs.front().validation.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(world.files.training.out));
}

TEST(Metatrain, LeavesOutBaseClassesToValidateOnWhereThereAreNoValClassesAndSaysSo) {
  JointWorld world;
  world.files.model.clear();
  const PackedImages images = two_colours(12, 0);
  MetatrainOptions options = quick_joint();
  options.head = "mean";
  options.schedule.epochs = 1;
  options.batches = 1;
  options.episode.n_way = 8;
  const auto tuned = [&](const std::string& name) {
    world.files.training.out = world.folder / name;
    return metatrain({images, *world.encoder, nullptr, nullptr}, options, world.files, Progress::none());
  };
  const char* const warning = "no val classes: validating on 4 of the base classes";
  {
    const testing::Logged heard;
    const MetatrainResult result = tuned("validated.npz");
    EXPECT_THAT(heard.text(), HasSubstr(warning));
    ASSERT_EQ(result.epochs.back().validation.size(), 1U);
    EXPECT_EQ(result.epochs.back().validation.front().method, "mean");
  }
  options.episode.n_way = 9;
  EXPECT_THAT(message_of([&] { tuned("wide.npz"); }),
              HasSubstr("the split 'base' has 8 classes, 9-way episodes need 9"));
  options.validation.episodes = 0;
  const testing::Logged heard;
  EXPECT_TRUE(tuned("alone.npz").epochs.back().validation.empty());
  EXPECT_THAT(heard.text(), ::testing::Not(HasSubstr(warning)));
}

TEST(Metatrain, ADiskWithRoomForTheBackboneAloneLeavesBothAsTheyWere) {
  JointWorld world;
  const JointInputs inputs{world.images, *world.backbone, &*world.model, &world.knowledge};
  const JointModels models(inputs, world.files, ProcessGroup::single(), at::kCPU);
  models.write(0, 10);
  const auto& out = world.files.training.out;
  ASSERT_LT(std::filesystem::file_size(out) + 10000, std::filesystem::file_size(world.files.model));
  const std::string before = hash_file(out) + hash_file(world.files.model);
  world.backbone->parameters()[0].data().add_(1);
  {
    const testing::FileLimit limit(std::filesystem::file_size(out) + 10000);
    EXPECT_THAT(message_of([&] { models.write(1, 11); }), HasSubstr("model.npz"));
  }
  EXPECT_EQ(hash_file(out) + hash_file(world.files.model), before);
  models.write(1, 11);
  EXPECT_NE(hash_file(out), before.substr(0, hash_file(out).size())) << "with room it is written";
}

TEST(Metatrain, GoesOnToTheSameBytesAfterBeingStoppedAtAnyStep) {
  const auto bytes_of = [](const JointWorld& world) {
    return read_file(world.files.training.out) + read_file(world.files.model);
  };
  MetatrainOptions options = quick_joint();
  JointWorld whole;
  const MetatrainResult expected = metatrain(whole.inputs(), options, whole.files, Progress::none());
  JointWorld cut;
  cut.files.training.resume = Resume::kIfThere;
  MetatrainResult result;
  const int64_t steps = options.schedule.epochs * options.batches;
  for (int64_t step = 1; step <= steps + 1; ++step) {
    JointWorld fresh;  // the inputs of the command are read again each time
    fresh.files = cut.files;
    StopSignal signal;
    testing::StopAt stop(signal, step);
    fresh.files.training.stop = &signal;
    const auto run = [&] { result = metatrain(fresh.inputs(), options, fresh.files, stop); };
    if (step <= steps) {
      EXPECT_THROW(run(), Interrupted) << step;
    } else {
      run();
    }
  }
  EXPECT_EQ(bytes_of(cut), bytes_of(whole));
  ASSERT_EQ(result.epochs.size(), expected.epochs.size());
  for (size_t i = 0; i < result.epochs.size(); ++i) {
    EXPECT_EQ(result.epochs[i].loss, expected.epochs[i].loss);
    EXPECT_EQ(result.epochs[i].validation.front().accuracy.value, expected.epochs[i].validation.front().accuracy.value);
  }
}

/// An encoder of an engine that trains nothing.
class ForeignEncoder : public Encoder {
 public:
  void prepare(const EncoderTarget& /*place*/) override {}
  void freeze() override {}
  Array features(const Array& pixels) override { return Array::zeros({pixels.size(0), dim()}); }
  Array maps(const Array& /*pixels*/) override { return {}; }
  [[nodiscard]] int64_t dim() const override { return 4; }
  [[nodiscard]] int64_t image_size() const override { return kPackSide; }
  [[nodiscard]] Preprocessing preprocessing() const override { return {}; }
  [[nodiscard]] std::string engine() const override { return "oneDNN"; }
};

TEST(Metatrain, RefusesAnEncoderOfAnotherEngine) {
  JointWorld world;
  ForeignEncoder encoder;
  MetatrainOptions options = quick_joint();
  options.head = "mean";
  EXPECT_THAT(message_of([&] {
                metatrain({world.images, encoder, nullptr, nullptr}, options, world.files, Progress::none());
              }),
              HasSubstr("this one is run by oneDNN"));
}

TEST(Metatrain, RefusesWhatItCannotTrain) {
  JointWorld world;
  const auto message = [&](const MetatrainInputs& inputs, const MetatrainOptions& options) -> std::string {
    try {
      metatrain(inputs, options, world.files, Progress::none());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message({world.images, *world.encoder, nullptr, nullptr}, quick_joint()),
              HasSubstr("needs a completion model"));
  MetatrainOptions wide = quick_joint();
  wide.episode.n_way = kBase + 1;
  EXPECT_THAT(message(world.inputs(), wide), HasSubstr("base"));
  MetatrainOptions hungry = quick_joint();
  hungry.episode.n_query = kPerClass;
  EXPECT_THAT(message(world.inputs(), hungry), HasSubstr("class"));
  MetatrainOptions wild = quick_joint();
  wild.schedule.learning_rate = 1e30;
  EXPECT_THAT(message(world.inputs(), wild), HasSubstr("the loss is not finite at epoch"));
}

}  // namespace
}  // namespace protocom
