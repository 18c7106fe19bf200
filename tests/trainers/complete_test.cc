#include "training/complete.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "base/error.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completer.h"
#include "heads/protocomnet.h"
#include "support/logged.h"
#include "support/matrices.h"
#include "support/stop_at.h"
#include "support/temp_dir.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::toy_world;
using protocom::testing::ToyWorld;
using ::testing::HasSubstr;

CompleteRecipe quick_completion() {
  CompleteRecipe options;
  options.schedule.epochs = 4;
  options.schedule.learning_rate = 0.05;
  options.batches = 150;
  options.batch = 32;
  options.validation.episodes = 40;
  options.validation.every = 2;
  options.seed = 8;
  return options;
}

double mean_of(const std::vector<MethodScores>& scores, const std::string& method) {
  return estimate(find_scores(scores, method)->accuracy).value;
}

TEST(Complete, LearnsPrototypesThatAreNearerToTheTrueCentresThanTheMeans) {
  const ToyWorld world = toy_world();
  const CompletionTraining result =
      train_completion({world.features, world.knowledge}, quick_completion(), {}, Progress::none());
  EXPECT_LT(result.epochs.back().loss, 0.8 * result.epochs.front().loss);
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, result.model.attributes);
  const EpisodeList episodes = sample_episodes(world.features, {Split::kNovel, {5, 1, 15}, 200, 1});
  const auto scores = evaluate({world.features, &result.model, &classes}, episodes, {}, Progress::none());
  const auto cosine = [&](const char* method) { return estimate(find_scores(scores, method)->cosine).value; };
  EXPECT_GT(cosine("completed"), cosine("mean") + 0.05);
  EXPECT_GT(cosine("mean-fusion"), cosine("mean") + 0.05);
  EXPECT_GT(cosine("gauss-fusion"), cosine("mean") + 0.05);
  EXPECT_GT(mean_of(scores, "mean-fusion"), mean_of(scores, "mean") + 1);
}

/// Returns the toy world with its features shifted so that their mean over the base classes is `length` times a unit
/// vector.
ToyWorld moved_world(double length) {
  ToyWorld world = toy_world();
  const at::Tensor all = tensor_of(world.features.features), base = all.slice(0, 0, 3000);  // 100 base classes of 30
  world.features.features = array_of(all - base.mean(0) + length / std::sqrt(24.0));
  return world;
}

at::Tensor completed_by(const CompletionModel& model, const ToyWorld& world, const at::Tensor& prototypes) {
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, model.attributes);
  const Completer completer(model, classes);
  return protocom::tensor_of(
      completer.complete(float_matrix_of(prototypes), labels_of(at::arange(prototypes.size(0)))));
}

TEST(Complete, WhatAllFeaturesShareChangesNothingWhenItIsTakenOff) {
  CompleteRecipe options = quick_completion();
  options.schedule.epochs = 1;
  options.centring = Centring::kAlways;
  const ToyWorld plain = moved_world(0);
  const ToyWorld moved = moved_world(10);
  const CompletionTraining one = train_completion({plain.features, plain.knowledge}, options, {}, Progress::none());
  const CompletionTraining other = train_completion({moved.features, moved.knowledge}, options, {}, Progress::none());
  const at::Tensor prototypes =
      tensor_of(plain.features.features).slice(0, 0, 90, 30).contiguous();  // of three classes
  const double shift = 10 / std::sqrt(24.0);
  EXPECT_TRUE(at::allclose(completed_by(one.model, plain, prototypes) + shift,
                           completed_by(other.model, moved, prototypes + shift), 1e-3, 1e-3));
  EXPECT_TRUE(
      at::allclose(tensor_of(one.model.attribute_mean) + shift, tensor_of(other.model.attribute_mean), 1e-3, 1e-3));
}

TEST(Complete, TakesOffWhatFeaturesShareOnlyWhereThatIsMostOfThem) {
  CompleteRecipe options = quick_completion();
  options.schedule.epochs = 1;
  options.batches = 3;
  const auto weights = [&](const ToyWorld& world, Centring centring) {
    options.centring = centring;
    return tensor_of(train_completion({world.features, world.knowledge}, options, {}, Progress::none())
                         .model.weight("encoder.bias"));
  };
  const ToyWorld plain = moved_world(0);
  EXPECT_TRUE(at::equal(weights(plain, Centring::kAuto), weights(plain, Centring::kNever)));
  const ToyWorld moved = moved_world(10);
  EXPECT_TRUE(at::equal(weights(moved, Centring::kAuto), weights(moved, Centring::kAlways)));
  EXPECT_FALSE(at::equal(weights(moved, Centring::kAuto), weights(moved, Centring::kNever)));
}

// Features of a general encoder have a cosine of .96 with each other.
TEST(Complete, LearnsAtItsDefaultRateWhereFeaturesShareMostOfTheirLength) {
  const ToyWorld world = moved_world(10);
  CompleteRecipe options = quick_completion();
  options.schedule.learning_rate = CompleteRecipe().schedule.learning_rate;
  const CompletionTraining result = train_completion({world.features, world.knowledge}, options, {}, Progress::none());
  EXPECT_LT(result.epochs.back().loss, 0.8 * result.epochs.front().loss);
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, result.model.attributes);
  const EpisodeList episodes = sample_episodes(world.features, {Split::kNovel, {5, 1, 15}, 200, 1});
  const auto scores = evaluate({world.features, &result.model, &classes}, episodes, {}, Progress::none());
  EXPECT_GT(mean_of(scores, "mean-fusion"), mean_of(scores, "mean") + 1);
}

TEST(Complete, GivesTheSameModelForTheSameSeedAndAnotherForAnother) {
  const ToyWorld world = toy_world();
  CompleteRecipe options = quick_completion();
  options.schedule.epochs = 1;
  options.batches = 5;
  const auto weights = [&](uint64_t seed) {
    options.seed = seed;
    return tensor_of(train_completion({world.features, world.knowledge}, options, {}, Progress::none())
                         .model.weight("decoder.2.weight"));
  };
  const at::Tensor first = weights(8);
  EXPECT_TRUE(first.equal(weights(8)));
  EXPECT_FALSE(first.equal(weights(9)));
}

TEST(Complete, KeepsTheEpochWhoseValidationIsBest) {
  const ToyWorld world = toy_world();
  const CompletionTraining result =
      train_completion({world.features, world.knowledge}, quick_completion(), {}, Progress::none());
  double best = -1;
  int64_t expected = 0;
  for (const auto& epoch : result.epochs) {
    if (epoch.validation.empty()) continue;
    const double accuracy = mean_of(epoch.validation, "completed") + mean_of(epoch.validation, "mean-fusion") +
                            mean_of(epoch.validation, "gauss-fusion");
    if (accuracy > best) {
      best = accuracy;
      expected = epoch.epoch;
    }
  }
  EXPECT_EQ(result.kept_epoch, expected);
  CompleteRecipe last = quick_completion();
  last.keep = Keep::kLast;
  EXPECT_EQ(train_completion({world.features, world.knowledge}, last, {}, Progress::none()).kept_epoch, 4);
}

TEST(Complete, LeavesOutBaseClassesToValidateOnWhereThereAreNoValClassesAndSaysSo) {
  protocom::testing::ToyWorldOptions sizes;
  sizes.base = 12;
  sizes.val = 0;
  const ToyWorld world = toy_world(sizes);
  CompleteRecipe options = quick_completion();
  options.schedule.epochs = 1;
  options.batches = 2;
  const char* const warning = "no val classes: validating on 4 of the base classes";
  {
    const testing::Logged heard;
    const CompletionTraining result =
        train_completion({world.features, world.knowledge}, options, {}, Progress::none());
    EXPECT_THAT(heard.text(), HasSubstr(warning));
    EXPECT_EQ(result.model.trained_on.size(), 8U);
    ASSERT_FALSE(result.epochs.back().validation.empty());
    EXPECT_EQ(find_scores(result.epochs.back().validation, "mean")->accuracy.size(), 40U) << "episodes";
  }
  options.validation.episodes = 0;
  const testing::Logged heard;
  const CompletionTraining result = train_completion({world.features, world.knowledge}, options, {}, Progress::none());
  EXPECT_THAT(heard.text(), ::testing::Not(HasSubstr(warning)));
  EXPECT_EQ(result.model.trained_on.size(), 12U);
  EXPECT_TRUE(result.epochs.back().validation.empty());
}

TEST(Complete, ATrainingThatIsStoppedAtEveryStepGivesTheSameModel) {
  const ToyWorld world = toy_world();
  CompleteRecipe options = quick_completion();
  options.batches = 3;
  const CompletionTraining whole = train_completion({world.features, world.knowledge}, options, {}, Progress::none());
  const protocom::testing::TempDir folder;
  TrainingFiles files;
  files.out = folder / "model.npz";
  files.resume = Resume::kIfThere;
  for (int64_t step = 1; step <= options.schedule.epochs * options.batches; ++step) {
    StopSignal signal;
    testing::StopAt stop(signal, step);
    files.stop = &signal;
    EXPECT_THROW(train_completion({world.features, world.knowledge}, options, files, stop), Interrupted) << step;
  }
  files.stop = nullptr;
  const CompletionTraining resumed =
      train_completion({world.features, world.knowledge}, options, files, Progress::none());
  for (const auto& [name, array] : whole.model.weights)
    EXPECT_TRUE(at::equal(tensor_of(array), tensor_of(resumed.model.weight(name)))) << name;
  EXPECT_TRUE(at::equal(tensor_of(whole.model.attribute_mean), tensor_of(resumed.model.attribute_mean)));
  EXPECT_EQ(resumed.kept_epoch, whole.kept_epoch);
  ASSERT_EQ(resumed.epochs.size(), whole.epochs.size());
  for (size_t i = 0; i < whole.epochs.size(); ++i) {
    EXPECT_EQ(resumed.epochs[i].loss, whole.epochs[i].loss);
    ASSERT_EQ(resumed.epochs[i].validation.size(), whole.epochs[i].validation.size());
    for (size_t m = 0; m < whole.epochs[i].validation.size(); ++m) {
      EXPECT_EQ(resumed.epochs[i].validation[m].method, whole.epochs[i].validation[m].method);
      EXPECT_EQ(resumed.epochs[i].validation[m].accuracy, whole.epochs[i].validation[m].accuracy);
      EXPECT_EQ(resumed.epochs[i].validation[m].cosine, whole.epochs[i].validation[m].cosine);
    }
  }
}

TEST(Complete, LeavesOutAttributesThatNoBaseClassHas) {
  ToyWorld world = toy_world();
  tensor_of(world.knowledge.association)
      .narrow(0, 0, 100)
      .select(1, 3)
      .zero_();  // only val and novel classes now have part3
  CompleteRecipe options = quick_completion();
  options.schedule.epochs = 1;
  options.batches = 2;
  const CompletionModel model =
      train_completion({world.features, world.knowledge}, options, {}, Progress::none()).model;
  EXPECT_EQ(model.attributes.size(), world.knowledge.attributes.size() - 1);
  EXPECT_EQ(std::count(model.attributes.begin(), model.attributes.end(), "part3"), 0);
}

TEST(Complete, ComputesAttributeStatisticsFromBaseImagesOnly) {
  ToyWorld world = toy_world();
  CompleteRecipe options = quick_completion();
  options.schedule.epochs = 1;
  options.batches = 1;
  const at::Tensor before = tensor_of(
      train_completion({world.features, world.knowledge}, options, {}, Progress::none()).model.attribute_mean);
  tensor_of(world.features.features).narrow(0, 100 * 30, 12 * 30).add_(100);  // val and novel images
  const at::Tensor after = tensor_of(
      train_completion({world.features, world.knowledge}, options, {}, Progress::none()).model.attribute_mean);
  EXPECT_TRUE(before.equal(after));
}

TEST(Complete, CompletesFeaturesOfAnyLengthAlike) {
  const ToyWorld world = toy_world();
  ToyWorld longer = toy_world();
  longer.features.features = array_of(
      16 * tensor_of(longer.features.features));  // a power of two: the scaled features are the same to the last bit
  CompleteRecipe options = quick_completion();
  options.schedule.epochs = 1;
  options.batches = 20;
  const CompletionModel one = train_completion({world.features, world.knowledge}, options, {}, Progress::none()).model;
  const CompletionModel sixteen =
      train_completion({longer.features, longer.knowledge}, options, {}, Progress::none()).model;
  EXPECT_TRUE(at::allclose(tensor_of(sixteen.attribute_mean), 16 * tensor_of(one.attribute_mean), 1e-5));
  const at::Tensor prototype = tensor_of(world.features.features).narrow(0, 0, 5);
  const auto alone = [](const CompletionModel& model, const at::Tensor& p) {
    const ProtoComNet network(model);
    return network.decode(network.encode(p));
  };
  EXPECT_TRUE(at::allclose(alone(sixteen, 16 * prototype), 16 * alone(one, prototype), 1e-3, 1e-4));
}

TEST(Complete, RefusesWhatCannotBeLearned) {
  const ToyWorld world = toy_world();
  CompleteRecipe options = quick_completion();
  options.k_shot = 31;  // a base class has 30 images
  EXPECT_THROW(train_completion({world.features, world.knowledge}, options, {}, Progress::none()), Error);
  ToyWorld without = toy_world();
  tensor_of(without.knowledge.association).zero_();
  EXPECT_THROW(train_completion({without.features, without.knowledge}, quick_completion(), {}, Progress::none()),
               Error);
  ToyWorld no_base = toy_world();
  std::fill(no_base.features.class_split.begin(), no_base.features.class_split.end(), Split::kNovel);
  EXPECT_THROW(train_completion({no_base.features, no_base.knowledge}, quick_completion(), {}, Progress::none()),
               Error);
  options = quick_completion();
  options.schedule.learning_rate = 1e9;
  EXPECT_THROW(train_completion({world.features, world.knowledge}, options, {}, Progress::none()), Error);
}

}  // namespace
}  // namespace protocom
