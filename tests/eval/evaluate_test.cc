#include "eval/evaluate.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <thread>

#include "base/error.h"
#include "eval/evaluation_tasks.h"
#include "eval/fit.h"
#include "fewshot/align_knowledge.h"
#include "knowledge/knowledge.h"
#include "support/golden.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/toy_features.h"
#include "support/untrained.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using protocom::testing::toy_world;
using protocom::testing::ToyWorld;
using protocom::testing::untrained_model;

std::vector<MethodScores> run(const ToyWorld& world, const EpisodeList& episodes) {
  const CompletionModel model = untrained_model(world);
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, model.attributes);
  return evaluate({world.features, &model, &classes}, episodes, {}, Progress::none());
}

TEST(Evaluate, FindsTheAccuracyAndCosineOfAnEpisodeWorkedOutByHand) {
  // Class 0 lies on the x axis, class 1 on the y axis; one query of class 1 lies nearer to class 0's direction.
  FeatureSet features;
  features.features = Array::of<float>({1, 0, 2, 0, 0, 1, 3, 1}, {4, 2});
  features.labels = {0, 0, 1, 1};
  features.class_names = {"x", "y"};
  features.class_split = {Split::kNovel, Split::kNovel};
  features.image_ids = {"a", "b", "c", "d"};
  const EpisodeList list{{2, 1, 1}, Split::kNovel, 0, {{{0, 1}, {{0}, {2}}, {{1}, {3}}}}};
  ScoringOptions options;
  options.methods = make_methods({"mean"});
  const auto scores = evaluate({features}, list, options, Progress::none());
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].accuracy, std::vector<double>{50.0});
  // The centres are (1.5, 0) and (1.5, 1): cosines 1 and 1 / sqrt(3.25).
  EXPECT_NEAR(scores[0].cosine[0], (1 + 1 / std::sqrt(3.25)) / 2, 1e-6);
}

TEST(Evaluate, SaysWhichHeadWasFittedForAnotherNumberOfShotsOnceATask) {
  const ToyWorld world = toy_world();
  const std::shared_ptr<Method> head = make_method("meta-baseline");
  head->load({{{"log_scale", Array::of<float>({1}, {})}}});
  ScoringOptions options;
  options.methods = make_methods({"mean", "meta-baseline"}, {{head, world.features.dim()}});
  TaskOptions shapes;
  shapes.shape = {2, 1, 2};
  shapes.shots = {"1", "3"};
  shapes.seeds = {1, 2};
  shapes.episodes = 2;
  auto tasks = draw_tasks(world.features, shapes);
  const testing::Logged logged;
  evaluate_tasks({world.features}, tasks, options, Progress::none());
  const std::string text = logged.text();
  const size_t first = text.find("'meta-baseline' was fitted for 1 labelled image per class, found 3");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.rfind("was fitted for"), text.find("was fitted for")) << text;
}

TEST(Evaluate, LeavesMethodsThatNeedLabelledImagesOutOfTheTasksWithout) {
  const ToyWorld world = toy_world();
  ScoringOptions options;
  const FittedMethod fitted = fit_method({world.features, nullptr, nullptr}, {"plda"}, Progress::none());
  options.methods = make_methods({"mean", "plda"}, {fitted});
  TaskOptions shapes;
  shapes.shape = {2, 1, 2};
  shapes.shots = {"0", "1"};
  shapes.episodes = 2;
  auto tasks = draw_tasks(world.features, shapes);
  evaluate_tasks({world.features}, tasks, options, Progress::none());
  const auto findings = findings_json(world.features, tasks, {{"plda", "mean"}}, {});
  EXPECT_EQ(findings["results"].size(), 3U) << findings["results"];
  EXPECT_EQ(findings["differences"].size(), 1U) << "where both answer";
  options.methods = make_methods({"mean"});
  shapes.shots = {"0"};
  auto alone = draw_tasks(world.features, shapes);
  EXPECT_THAT(testing::usage_message_of([&] { evaluate_tasks({world.features}, alone, options, Progress::none()); }),
              ::testing::HasSubstr("needs at least 1 labelled image"));
}

TEST(Evaluate, DoesNotDependOnHowManyEpisodesAreComputedTogether) {
  const ToyWorld world = toy_world();
  EpisodeList episodes = sample_episodes(world.features, {Split::kNovel, {5, 2, 7}, 23, 3});
  const auto together = run(world, episodes);
  episodes.episodes.resize(1);
  const auto alone = run(world, episodes);
  ASSERT_EQ(together.size(), 4U);
  for (size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(together[i].accuracy.front(), alone[i].accuracy.front()) << together[i].method;
    EXPECT_EQ(together[i].cosine.front(), alone[i].cosine.front()) << together[i].method;
  }
}

TEST(Evaluate, TellsOfItsProgressOnTheCallingThreadAlone) {
  struct Heard : Progress {
    void advance(int64_t done, std::string_view /*detail*/) override {
      if (std::this_thread::get_id() != caller) ++elsewhere;
      last = done;
    }
    std::thread::id caller = std::this_thread::get_id();
    int elsewhere = 0;
    int64_t last = 0;
  } heard;
  const ToyWorld world = toy_world();
  const EpisodeList episodes = sample_episodes(world.features, {Split::kNovel, {5, 1, 5}, 100, 1});
  ScoringOptions options;
  options.methods = make_methods({"mean"});
  evaluate({world.features}, episodes, options, heard);
  EXPECT_EQ(heard.elsewhere, 0);
  EXPECT_EQ(heard.last, 100);
}

TEST(Evaluate, DoesNotChangeWhenTheQueriesOfAnEpisodeArePermuted) {
  const ToyWorld world = toy_world();
  EpisodeList episodes = sample_episodes(world.features, {Split::kNovel, {5, 1, 9}, 10, 4});
  const auto before = run(world, episodes);
  for (auto& episode : episodes.episodes) {
    for (auto& rows : episode.query) std::reverse(rows.begin(), rows.end());
  }
  const auto after = run(world, episodes);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].accuracy, after[i].accuracy) << before[i].method;
}

TEST(Evaluate, KeepsInductiveMethodsIndependentOfTheOtherQueries) {
  constexpr int64_t kQueries = 10;
  const ToyWorld world = toy_world();
  const EpisodeList together = sample_episodes(world.features, {Split::kNovel, {5, 1, kQueries}, 40, 5});
  std::vector<double> sum_alone(40);  // from the ten runs that see one query of each class only
  for (int64_t pick = 0; pick < kQueries; ++pick) {
    EpisodeList alone = together;
    alone.shape.n_query = 1;
    for (auto& episode : alone.episodes) {
      for (auto& rows : episode.query) rows = {rows[static_cast<size_t>(pick)]};
    }
    const auto scores = run(world, alone);
    for (size_t i = 0; i < sum_alone.size(); ++i) sum_alone[i] += find_scores(scores, "mean-fusion")->accuracy[i];
  }
  const auto scores = run(world, together);
  for (size_t i = 0; i < sum_alone.size(); ++i) {
    EXPECT_NEAR(find_scores(scores, "mean-fusion")->accuracy[i], sum_alone[i] / kQueries, 1e-9) << "episode " << i;
  }
}

TEST(Evaluate, RefusesCompletionWithoutAModelAndFeaturesOfAnotherSize) {
  const ToyWorld world = toy_world();
  const EpisodeList episodes = sample_episodes(world.features, {Split::kNovel, {5, 1, 5}, 2, 1});
  EXPECT_THROW(evaluate({world.features}, episodes, {}, Progress::none()), UsageError);
  const CompletionModel model = untrained_model(world);
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, model.attributes);
  FeatureSet narrow = world.features;
  narrow.features = array_of(tensor_of(narrow.features).narrow(1, 0, 5));
  EXPECT_THROW(evaluate({narrow, &model, &classes}, episodes, {}, Progress::none()), Error);
}

/// Returns maps of the toy images, of one place each.
FeatureMaps toy_maps(const FeatureSet& features) {
  const Array halves = features.features.to(NumberType::kFloat16);
  return {halves.reshaped({features.size(), features.dim(), 1, 1}), features.image_ids, ""};
}

TEST(Evaluate, HandsFeatureMapsToTheMethodsThatNeedThem) {
  const ToyWorld world = toy_world();
  const FeatureMaps maps = toy_maps(world.features);
  const FittedMethod fitted =
      fit_method({world.features, nullptr, &maps}, {"cfa:steps=1:codewords=1:groups=1:mixing=none"}, Progress::none());
  const EpisodeList episodes = sample_episodes(world.features, {Split::kNovel, {5, 1, 7}, 40, 3});
  ScoringOptions options;
  options.methods = {fitted.method, make_methods({"simple-shot"}).front()};
  EvaluateInputs inputs{world.features};
  EXPECT_THAT(message_of([&] { evaluate(inputs, episodes, options, Progress::none()); }),
              ::testing::HasSubstr("'cfa' needs feature maps (protocom extract --maps)"));
  inputs.maps = &maps;
  const auto scores = evaluate(inputs, episodes, options, Progress::none());
  // One group, one codeword and one place leave the features less the base mean, at unit length: cl2n.
  EXPECT_NEAR(estimate(scores[0].accuracy).value, estimate(scores[1].accuracy).value, 0.5);
}

TEST(Evaluate, RefusesFeatureMapsOfOtherImages) {
  const ToyWorld world = toy_world();
  FeatureMaps maps = toy_maps(world.features);
  std::swap(maps.image_ids[3], maps.image_ids[4]);
  const auto fit = [&] { fit_method({world.features, nullptr, &maps}, {"cfa:steps=1"}, Progress::none()); };
  EXPECT_THAT(message_of(fit), ::testing::HasSubstr("image 3 is 'image4' among the feature maps"));
  maps.image_ids.pop_back();
  EXPECT_THAT(message_of(fit), ::testing::HasSubstr("extract both from the same images"));
}

TEST(Evaluate, AgreesWithAnIndependentProgramOnRealFeatures) {
  REQUIRE_REAL_DATA();
  // A separate program with 600 episodes on the same features: 53.3 +- 0.8 and 71.5 +- 0.65; two such estimates differ
  // by more than the root sum of squares of their intervals in one run of twenty, so the seed is fixed.
  const FeatureSet features = read_features(*testing::real_data() / "tiny-imagenet-100-resnet12.npz");
  ScoringOptions options;
  options.methods = make_methods({"mean"});
  const auto accuracy = [&](int64_t k_shot) {
    const EpisodeList list = sample_episodes(features, {Split::kNovel, {5, k_shot, 15}, 600, 1});
    return estimate(evaluate({features}, list, options, Progress::none())[0].accuracy);
  };
  const Estimate one = accuracy(1);
  EXPECT_NEAR(one.value, 53.3, std::hypot(one.ci95, 0.8));
  const Estimate five = accuracy(5);
  EXPECT_NEAR(five.value, 71.5, std::hypot(five.ci95, 0.65));
}

TEST(Estimate, IsTheMeanAndItsInterval) {
  const Estimate result = estimate({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(result.value, 2.5);
  EXPECT_NEAR(result.ci95, 1.96 * std::sqrt(5.0 / 3.0 / 4.0), 1e-12);
  EXPECT_DOUBLE_EQ(estimate({7}).ci95, 0);
}

TEST(Estimate, RefusesNoValuesAndUnequalLists) {
  EXPECT_EQ(message_of([] { estimate({}); }), "a mean and its interval need at least one value, found none");
  EXPECT_EQ(message_of([] { paired_difference({}, {}); }),
            "a mean and its interval need at least one value, found none");
  EXPECT_EQ(message_of([] {
              paired_difference({1, 2}, {1});
            }),
            "a paired difference needs values of the same episodes, found 2 and 1");
}

TEST(Evaluate, RefusesFeaturesWithALabelThatIsNoClass) {
  ToyWorld world = toy_world();
  world.features.labels[3] = 1000;
  EXPECT_THAT(message_of([&] {
                sample_episodes(world.features, {Split::kNovel, {}, 1, 1});
              }),
              ::testing::HasSubstr("image 3 has the class number 1000"));
}

TEST(AlignKnowledge, PicksRowsAndColumnsByNameAndZeroesWhatIsUnknown) {
  Knowledge knowledge;
  knowledge.classes = {"cat", "dog"};
  knowledge.attributes = {"tail", "paw"};
  knowledge.association = array_of(at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).view({2, 2}));
  knowledge.class_embedding = array_of(at::tensor({5.0F, 6.0F}).view({2, 1}));
  knowledge.attribute_embedding = array_of(at::zeros({2, 1}));
  const KnowledgeTable aligned = align_knowledge(knowledge, {"dog", "emu", "cat"}, {"paw", "horn", "tail"});
  EXPECT_TRUE(tensor_of(aligned.association)
                  .equal(at::tensor({4.0F, 0.0F, 3.0F, 0.0F, 0.0F, 0.0F, 2.0F, 0.0F, 1.0F}).view({3, 3})));
  EXPECT_TRUE(tensor_of(aligned.class_embedding).equal(at::tensor({6.0F, 0.0F, 5.0F}).view({3, 1})));
  EXPECT_THROW(align_knowledge(knowledge, {"emu"}, {"paw"}), Error);
}

}  // namespace
}  // namespace protocom
