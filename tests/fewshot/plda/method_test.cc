#include "fewshot/plda/detail/method.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "fewshot/fitted_method.h"
#include "fewshot/plda/detail/findings.h"
#include "fewshot/plda/detail/knowledge_gain.h"
#include "fewshot/plda/detail/state.h"
#include "fewshot/plda/fit.h"
#include "io/artefact.h"
#include "io/npz.h"
#include "support/labelled.h"
#include "support/matrices.h"
#include "support/message_of.h"
#include "support/scorer.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::transformed;

constexpr int64_t kPldaDim = 24;
constexpr int64_t kPldaClasses = 20;  // the first fourteen are base classes
constexpr int64_t kPldaBase = 14;
constexpr int64_t kPldaImages = 20;

/// Classes whose means follow from attributes, and features of them.
struct DescribedClasses {
  DescribedClasses() {
    at::manual_seed(12);
    knowledge.association = array_of(at::rand({kPldaClasses, 6}).gt(0.5).to(at::kFloat));
    knowledge.class_embedding = array_of(at::randn({kPldaClasses, 4}));
    knowledge.attribute_embedding = array_of(at::randn({6, 4}));
    for (int64_t c = 0; c < kPldaClasses; ++c) names.push_back("class" + std::to_string(c));
    for (int64_t a = 0; a < 6; ++a) knowledge.attributes.push_back("part" + std::to_string(a));
    knowledge.classes = names;
    const at::Tensor direction = at::randn({6, kPldaDim});
    const at::Tensor own = 0.5 * at::randn({kPldaClasses, kPldaDim});
    labels = at::arange(kPldaClasses, at::kLong).repeat_interleave(kPldaImages);
    features = (at::matmul(tensor_of(knowledge.association), direction) + own).index_select(0, labels);
    features = features + at::randn({kPldaClasses * kPldaImages, kPldaDim});
  }

  [[nodiscard]] FitInputs fit_inputs(const at::Tensor& from, const KnowledgeTable* told) const {
    return {testing::labelled(from.narrow(0, 0, kPldaBase * kPldaImages), labels.narrow(0, 0, kPldaBase * kPldaImages)),
            {},
            told,
            &names,
            1};
  }

  /// Returns an episode of the six classes that are not base, with k images each and the last five of each as queries.
  [[nodiscard]] EpisodeBatch episode(const at::Tensor& from, int64_t k) const {
    const at::Tensor others = from.view({kPldaClasses, kPldaImages, kPldaDim}).narrow(0, kPldaBase, 6);
    EpisodeBatch batch;
    batch.support = others.narrow(1, 0, k).unsqueeze(0).contiguous();
    batch.query = others.narrow(1, kPldaImages - 5, 5).reshape({1, 30, kPldaDim});
    batch.classes = at::arange(kPldaBase, kPldaClasses, at::kLong).unsqueeze(0);
    return batch;
  }

  [[nodiscard]] MethodContext context() const {
    MethodContext known;
    known.knowledge = &knowledge;
    known.class_names = &names;
    return known;
  }

  KnowledgeTable knowledge;
  std::vector<std::string> names;
  at::Tensor features, labels;
};

const DescribedClasses& described_classes() {
  static const DescribedClasses kClasses;
  return kClasses;
}

std::shared_ptr<Method> fitted_plda(const at::Tensor& features, const KnowledgeTable* told) {
  std::shared_ptr<Method> method = make_method("plda:scale=1");
  method->fit(described_classes().fit_inputs(features, told));
  return method;
}

/// Returns a method fitted once for all tests.
const std::shared_ptr<Method>& told_plda() {
  static const auto kTold = fitted_plda(described_classes().features, &described_classes().knowledge);
  return kTold;
}

const std::shared_ptr<Method>& untold_plda() {
  static const auto kUntold = fitted_plda(described_classes().features, nullptr);
  return kUntold;
}

at::Tensor centred_logits(const at::Tensor& logits) { return logits - logits.mean(-1, true); }

at::Tensor logits_of(const MethodState& state, const std::string& name, const EpisodeBatch& batch) {
  const auto method = make_method(name);
  method->load(state);
  const testing::Scorer scorer(*method, described_classes().context());
  const at::Tensor logits = scorer.score(batch).logits;
  return centred_logits(logits).squeeze(0);
}

/// Returns the largest difference relative to the largest expected value.
double relative(const at::Tensor& found, const at::Tensor& expected) {
  return ((found - expected).abs().max() / expected.abs().max()).item<double>();
}

/// Returns -|q - m|^2 / (2 (1 + 1 / k)) in the mapped space, with m the mean of the k images of a class.
at::Tensor nearest_mean_logits(const PldaModel& model, const EpisodeBatch& batch, double k) {
  const at::Tensor means = transformed(model.space, batch.support).mean(2).squeeze(0);
  const at::Tensor queries = transformed(model.space, batch.query).squeeze(0);
  const at::Tensor distance = (queries.unsqueeze(1) - means.unsqueeze(0)).square().sum(-1);
  return centred_logits(-0.5 * distance / (1 + 1 / k));
}

/// Makes a space of base classes that differ only in the first ten of sixty dimensions.
std::unique_ptr<Method> space_of_ten_dimensions() {
  at::manual_seed(21);
  const at::Tensor labels = at::arange(40, at::kLong).repeat_interleave(15);
  at::Tensor means = at::zeros({40, 60});
  means.narrow(1, 0, 10) = 2 * at::randn({40, 10});
  FitInputs inputs;
  inputs.base = testing::labelled(means.index_select(0, labels) + at::randn({600, 60}), labels);
  const auto method = make_method("plda");
  method->fit(inputs);
  return method->as_space();
}

/// Twelve classes that differ only in the other dimensions, with one labelled image each.
TEST(PldaSpaceOfOthers, TellsApartClassesThatDifferWhereItsOwnDoNot) {
  const auto space = space_of_ten_dimensions();
  at::Tensor means = at::zeros({12, 1, 60});
  means.narrow(2, 10, 50) = 0.9 * at::randn({12, 1, 50});
  EpisodeBatch batch;
  batch.support = (means + at::randn({12, 1, 60})).unsqueeze(0);
  batch.query = (means + at::randn({12, 40, 60})).view({1, 480, 60});
  const at::Tensor own = at::arange(12, at::kLong).repeat_interleave(40);
  const at::Tensor logits = testing::scores_of(*space, {}, batch).logits[0];
  EXPECT_GT(logits.argmax(-1).eq(own).to(at::kDouble).mean().item<double>(), 0.75);
}

TEST(PldaMethod, TenThousandRepeatsRankByTheNearestMean) {
  const auto& world = described_classes();
  const MethodState state = told_plda()->state();
  EpisodeBatch batch = world.episode(world.features, 1);
  constexpr int64_t kTimes = 10'000;
  batch.support = batch.support.expand({1, 6, kTimes, kPldaDim}).contiguous();
  EXPECT_LT(relative(logits_of(state, "plda:scale=1", batch), nearest_mean_logits(plda_model_of(state), batch, kTimes)),
            2e-3);
}

TEST(PldaMethod, WithAFlatVarianceBetweenClassesIsTheNearestMean) {
  const auto& world = described_classes();
  PldaModel model = plda_model_of(untold_plda()->state());
  model.space.between.setConstant(1e6);
  model.residual = model.space.between;
  const EpisodeBatch batch = world.episode(world.features, 3);
  EXPECT_LT(relative(logits_of(state_of(model, {}), "plda:scale=1", batch), nearest_mean_logits(model, batch, 3)),
            1e-3);
}

/// Returns log p(q | the images of its class): k + 1 images of a class are jointly Gaussian, in each dimension with the
/// covariance I + b 1 1'.
double joint_log_density(const at::Tensor& images, const at::Tensor& between) {  // [k, e], [e]
  double sum = 0;
  const int64_t k = images.size(0);
  for (int64_t d = 0; d < between.size(0); ++d) {
    const at::Tensor covariance = at::eye(k, at::kDouble) + between[d].item<double>() * at::ones({k, k}, at::kDouble);
    const at::Tensor x = images.select(1, d);
    sum -= 0.5 * (at::logdet(covariance) + x.dot(at::matmul(at::inverse(covariance), x))).item<double>();
  }
  return sum;
}

TEST(PldaMethod, WithoutKnowledgeGivesTheAnswersOfPldaToSeveralImages) {
  const auto& world = described_classes();
  const MethodState state = untold_plda()->state();
  const PldaModel model = plda_model_of(state);
  const EpisodeBatch batch = world.episode(world.features, 3);
  const at::Tensor support = transformed(model.space, batch.support).squeeze(0);  // [n, k, e]
  const at::Tensor queries = transformed(model.space, batch.query).squeeze(0);
  const at::Tensor between = protocom::tensor_of(model.space.between);
  at::Tensor expected = at::empty({30, 6}, at::kDouble);
  for (int64_t q = 0; q < 30; ++q) {
    for (int64_t c = 0; c < 6; ++c) {
      const at::Tensor together = at::cat({support[c], queries[q].unsqueeze(0)});
      expected[q][c] = joint_log_density(together, between) - joint_log_density(support[c], between);
    }
  }
  EXPECT_LT(relative(logits_of(state, "plda:scale=1", batch), centred_logits(expected)), 1e-4);
}

TEST(PldaMethod, GivesTheSameAnswersWhenFittedOnScaledAndRotatedFeatures) {
  const auto& world = described_classes();
  at::manual_seed(6);
  const at::Tensor turn = std::get<0>(at::linalg_qr(at::randn({kPldaDim, kPldaDim}, at::kDouble)));
  const at::Tensor moved = (3.5 * at::matmul(world.features.to(at::kDouble), turn)).to(at::kFloat);
  const MethodState plain = told_plda()->state();
  const MethodState turned = fitted_plda(moved, &world.knowledge)->state();
  for (const char* method : {"plda", "plda-vb"}) {
    for (const int64_t k : {1, 5}) {
      EXPECT_LT(relative(logits_of(turned, method, world.episode(moved, k)),
                         logits_of(plain, method, world.episode(world.features, k))),
                2e-3)
          << method << k;
    }
  }
}

TEST(PldaMethod, KeepsInTheFileWhatWasChosenAndAllThatWasTried) {
  const testing::TempDir folder;
  const auto& method = told_plda();
  const auto path = folder / "plda.npz";
  write_fitted_method(path, {method, kPldaDim, {"x"}}, {}, nlohmann::json::object());
  const ArtefactHeader header = read_any_header(path);
  EXPECT_EQ(header.format_version, 1);
  const nlohmann::json& fit = header.details.at("fit");
  const PldaModel model = plda_model_of(method->state());
  EXPECT_EQ(fit.at("inductive_scale").at("5").get<double>(), model.inductive_scale.five);
  EXPECT_EQ(fit.at("known_offset").at("1").get<double>(), model.known_offset.one);
  EXPECT_EQ(fit.at("explained").get<double>(), model.explained);
  for (const char* name : {"shrinkage", "floor_factor", "strength", "trust", "spread", "explained_left_out"})
    EXPECT_TRUE(fit.at(name).is_number()) << name;
  int chosen = 0;
  for (const auto& trial : fit.at("tried")) {
    EXPECT_FALSE(trial.at("unit").get<std::string>().empty()) << trial;
    chosen += trial.at("what") == "shrinkage, floor" && trial.at("chosen").get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_EQ(fit.at("knowledge_adds").size(), 2U);
}

/// Returns the same attributes, each class with those of another.
KnowledgeTable misleading_knowledge() {
  KnowledgeTable knowledge = described_classes().knowledge;
  knowledge.association = array_of(tensor_of(knowledge.association).roll(5, 0));
  return knowledge;
}

TEST(PldaMethod, LeavesOutKnowledgeThatDoesNotPayUnlessItIsToldTo) {
  const DescribedClasses& classes = described_classes();
  const KnowledgeTable misleading = misleading_knowledge();
  const auto fitted = [&](KnowledgeUse use) {
    std::shared_ptr<Method> method = make_method("plda:scale=1");
    FitInputs inputs = classes.fit_inputs(classes.features, &misleading);
    inputs.knowledge_use = use;
    method->fit(inputs);
    return method;
  };
  const auto by_itself = fitted(KnowledgeUse::kAuto);
  const MethodState expected = untold_plda()->state();
  const MethodState found = by_itself->state();
  ASSERT_EQ(found.tensors.size(), expected.tensors.size());
  for (const auto& [name, tensor] : expected.tensors)
    EXPECT_TRUE(protocom::tensor_of(found.at(name)).equal(protocom::tensor_of(tensor))) << name;
  EXPECT_TRUE(found.attributes.empty());
  EXPECT_THAT(by_itself->findings(), Contains(HasSubstr("--knowledge-use always")));
  EXPECT_TRUE(by_itself->details().at("knowledge_left_out").get<bool>());
  EXPECT_EQ(by_itself->details().at("knowledge_adds").size(), 2U) << "what it was judged by";
  EXPECT_TRUE(plda_model_of(fitted(KnowledgeUse::kAlways)->state()).knowledge);
  EXPECT_TRUE(plda_model_of(told_plda()->state()).knowledge) << "knowledge that pays stays";
}

TEST(KnowledgePays, WhereItGainsWithOneImage) {
  const auto gains = [](double one, double five) {
    return std::vector<KnowledgeGain>{{1, 50, one, one - 3, one + 3}, {5, 70, five, five - 3, five + 3}};
  };
  EXPECT_TRUE(knowledge_pays(gains(0.1, -1)));
  EXPECT_FALSE(knowledge_pays(gains(0, 9)));
  EXPECT_FALSE(knowledge_pays(gains(-2, 9)));
  EXPECT_TRUE(knowledge_pays({})) << "what cannot be measured is not followed anyway";
}

TEST(PldaState, BatchBoundsAreKeptAndOnesOutOfRangeRefused) {
  const MethodState state = make_method("plda-vb")->state();
  const PldaModel kept = plda_model_of(state);
  EXPECT_EQ(kept.vb.plausible, 0.3);
  EXPECT_EQ(kept.vb.least_weight, 0.5);
  const auto with = [&](const std::string& name, const Array& value) {
    MethodState changed = state;
    for (auto& [own, tensor] : changed.tensors) {
      if (own == name) tensor = value;
    }
    return testing::message_of([&] { plda_model_of(changed); });
  };
  for (const double lie : {0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_THAT(with("batch.plausible", Array::of<double>({lie}, {})), HasSubstr("batch")) << lie;
    EXPECT_THAT(with("batch.least_weight", Array::of<double>({lie}, {})), HasSubstr("batch")) << lie;
  }
  EXPECT_THAT(with("batch.degrees", Array::of<double>({-1}, {})), HasSubstr("'batch.degrees' is -1"));
  EXPECT_THAT(with("batch.degrees", Array::of(std::vector<double>(1000, 1))), HasSubstr("'batch.degrees'"));
}

// Half the classes yield a gain of 8, three quarters one of 11: g - a / C with a = 9 C / 2 and g = 17, so 12.5 for all.
TEST(KnowledgeGain, ReachesToWhatAPriorOfAllClassesWouldGain) {
  const auto all =
      with_all_classes({{1, 50, 11, 8, 14}, {5, 70, 2, 1, 3}}, 4, {{1, 50, 8, 5, 11}, {5, 70, 3, 2, 4}}, 2);
  EXPECT_NEAR(all[0].high, 15.5, 1e-12);
  EXPECT_EQ(all[0].low, 8);
  EXPECT_EQ(all[1].high, 3) << "more classes do not teach less";
}

/// As in an adapted model: the best class's score decides what is known, without regard to similar classes.
MethodState by_best_state(MethodState state) {
  const auto alike = std::find_if(state.tensors.begin(), state.tensors.end(),
                                  [](const auto& item) { return item.first == "known_alike"; });
  state.tensors.erase(alike);
  return state;
}

/// Returns the log odds of "none" [q] by a model.
at::Tensor log_odds_against(const std::shared_ptr<const Method>& method, const EpisodeBatch& batch) {
  const testing::TensorScores scores = testing::scores_of(*method, described_classes().context(), batch);
  return (scores.unseen - scores.logits.logsumexp(-1)).squeeze(0);
}

TEST(PldaMethod, WithoutKnownAlikeJudgesByTheBestClass) {
  const std::shared_ptr<Method> by_best = make_method("plda");
  by_best->load(by_best_state(untold_plda()->state()));
  const PldaModel model = plda_model_of(by_best->state());
  EXPECT_TRUE(model.known_by_best);
  const EpisodeBatch batch = described_classes().episode(described_classes().features, 1);
  const at::Tensor best =
      std::get<0>(testing::scores_of(*by_best, described_classes().context(), batch).logits.squeeze(0).max(-1)) /
      model.inductive_scale.one;
  const at::Tensor f = transformed(model.space, batch.query.squeeze(0));
  const at::Tensor spread = 1 + protocom::tensor_of(model.space.between);
  const at::Tensor none =
      -0.5 * ((f.square() / spread).sum(-1) + spread.log().sum() + static_cast<double>(f.size(1)) * std::log(2 * M_PI));
  const at::Tensor expected = -(model.known_slope.one * (best - none) + model.known_offset.one);
  EXPECT_LT(relative(log_odds_against(by_best, batch).to(at::kDouble), expected), 1e-4);
  EXPECT_FALSE(plda_model_of(untold_plda()->state()).known_by_best);
}

TEST(PldaFindings, NameTheUnitOfEveryFigure) {
  PldaFit fit;
  fit.tried = {{"shrinkage, floor", "0.1, 1", 64.312, true, "% right"},
               {"shrinkage, floor", "0.1, 2", 64.1, false, "% right"},
               {"knowledge", "0.5", 0.87, true, "of the squared means missed"}};
  const auto findings = settings_of(fit);
  EXPECT_THAT(findings, Contains("shrinkage, floor: 0.1, 1 (64.31 % right)"));
  EXPECT_THAT(findings, Contains("knowledge: 0.5 (0.87 of the squared means missed)"));
  EXPECT_EQ(findings.size(), 2U) << "what was chosen";
  EXPECT_EQ(findings_of(fit).size(), 1U) << "one sentence on knowledge";
}

TEST(PldaFindings, SayThatAPriorExplainsNothingWhereItIsWorseThanNone) {
  PldaFit fit;
  fit.model = plda_model_of(told_plda()->state());
  fit.strength = 0.5;
  fit.model.explained_left_out = -0.09;
  EXPECT_THAT(settings_of(fit), Contains(HasSubstr("left out of it: nothing.")));
  fit.model.explained_left_out = 0.28;
  EXPECT_THAT(settings_of(fit), Contains(HasSubstr("left out of it: 28 %.")));
  fit.strength = std::nullopt;
  EXPECT_THAT(settings_of(fit), Not(Contains(HasSubstr("28 %")))) << "of too few classes to be measured";
}

}  // namespace
}  // namespace protocom
