// The systems that the paper compares with, against tests/golden/systems.py, and further properties of each.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <regex>

#include "base/error.h"
#include "fewshot/methods.h"
#include "heads/batch_method.h"
#include "heads/detail/am3_method.h"
#include "heads/detail/diagonal_gaussian.h"
#include "heads/detail/step_training.h"
#include "support/golden.h"
#include "support/labelled.h"
#include "support/message_of.h"
#include "support/parameter_name.h"
#include "support/scorer.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::error_of;
using protocom::testing::golden;
using protocom::testing::message_of;
using protocom::testing::tensor_of;
using protocom::testing::toy_world;
using protocom::testing::ToyWorld;
using ::testing::HasSubstr;

at::Tensor float_of(const nlohmann::json& json) {
  return json.is_number() ? at::full({}, json.get<double>()) : tensor_of(json).to(at::kFloat);
}

MethodState state_from(const nlohmann::json& json) {
  MethodState state;
  for (const auto& [name, values] : json.items()) state.tensors.emplace_back(name, array_of(float_of(values)));
  state.attributes = golden("fitted_attributes", "systems.json").get<std::vector<std::string>>();
  return state;
}

/// The episode and the knowledge of tests/golden/systems.py.
struct SystemsEpisode {
  SystemsEpisode() {
    const nlohmann::json episode = golden("episode", "systems.json");
    std::vector<at::Tensor> classes;
    for (const auto& supports : episode.at("support")) classes.push_back(float_of(supports));
    batch.support = at::stack(classes).unsqueeze(0);
    batch.query = float_of(episode.at("query")).unsqueeze(0);
    batch.classes = at::tensor(episode.at("classes").get<std::vector<int64_t>>(), at::kLong).unsqueeze(0);
    const nlohmann::json known = golden("knowledge", "systems.json");
    knowledge.classes = known.at("classes").get<std::vector<std::string>>();
    knowledge.attributes = known.at("attributes").get<std::vector<std::string>>();
    knowledge.association = array_of(float_of(known.at("association")));
    knowledge.class_embedding = array_of(float_of(known.at("class_embedding")));
    knowledge.attribute_embedding = array_of(float_of(known.at("attribute_embedding")));
    names = golden("class_names", "systems.json").get<std::vector<std::string>>();
    context.knowledge = &knowledge;
    context.class_names = &names;
  }

  [[nodiscard]] std::unique_ptr<Method> loaded(const std::string& text) const {
    auto method = make_method(text);
    method->load(state_from(golden("systems", "systems.json").at(text).at("state")));
    return method;
  }

  EpisodeBatch batch;
  KnowledgeTable knowledge;
  std::vector<std::string> names;
  MethodContext context;
};

const SystemsEpisode& small() {
  static const SystemsEpisode kSmall;
  return kSmall;
}

std::vector<std::string> typed_systems() {
  std::vector<std::string> names;
  const nlohmann::json systems = golden("systems", "systems.json");
  for (const auto& [name, one] : systems.items()) names.push_back(name);
  return names;
}

class ComparedSystem : public ::testing::TestWithParam<std::string> {};

TEST_P(ComparedSystem, AnswersAsItsEquationsDo) {
  const at::Tensor expected = tensor_of(golden("systems", "systems.json").at(GetParam()).at("answers"));
  const testing::Scorer scorer(*small().loaded(GetParam()), small().context);
  const at::Tensor found = scorer.score(small().batch).logits.squeeze(0).to(at::kDouble).log_softmax(-1);
  EXPECT_LT(error_of(found, expected), 1e-5) << found << expected;
}

INSTANTIATE_TEST_SUITE_P(Golden, ComparedSystem, ::testing::ValuesIn(typed_systems()),
                         ::protocom::testing::parameter_name);

TEST(Am3Loss, SumsTheChainAndRaisesWrongClassesByTheirMargin) {
  const nlohmann::json expected = golden("loss", "systems.json");
  const MethodState state = state_from(expected.at("state"));
  Am3Model model{std::make_shared<UnitSpace>(state), {}, tensor_of(state.at("log_scale"))};
  StateFields fields = StateFields::reading_from(state);
  for (const std::string block : {"block0.", "block1."}) {
    Am3Block& own = model.blocks.emplace_back();
    own.transform.fields(fields, block + "transform.", {-1, -1, -1});
    own.gate.fields(fields, block + "gate.", {-1, -1, -1});
  }
  TrainingTasks tasks{small().batch,
                      at::tensor(expected.at("labels").get<std::vector<int64_t>>(), at::kLong).unsqueeze(0)};
  tasks.batch.support = mapped_tensor(*model.space, tasks.batch.support);
  tasks.batch.query = mapped_tensor(*model.space, tasks.batch.query);
  std::vector<at::Tensor> semantics;
  for (const std::string kind : {"words", "attributes"}) {
    semantics.push_back(
        rows_at(class_semantics(kind, small().knowledge, small().names, state.attributes), tasks.batch.classes));
  }
  const auto loss = [&](const MarginLaw& law) {
    return am3_loss(model, tasks, semantics, {{"words", "attributes"}, law}, {}).item<double>();
  };
  EXPECT_NEAR(loss({0, 0}), expected.at("none").get<double>(), 1e-5);
  EXPECT_NEAR(loss({0.8, 0.3}), expected.at("margins").get<double>(), 1e-5);
}

TEST(DiagonalGaussian, DivergesAsNumericalIntegrationSays) {
  const nlohmann::json cases = golden("divergence", "systems.json");
  at::Tensor found = at::zeros({}, at::kDouble);
  double expected = 0;
  const auto gaussian = [](const nlohmann::json& json) {
    // Not json{x}, which is a list of x for GCC but x for Clang.
    const auto list = [](const nlohmann::json& number) { return tensor_of(nlohmann::json::array({number})); };
    return DiagonalGaussian{list(json[0]), list(json[1]).log()};
  };
  for (const auto& one : cases) {
    found += divergence(gaussian(one.at("q")), gaussian(one.at("prior")));
    expected += one.at("kl").get<double>();
  }
  EXPECT_NEAR(found.item<double>(), expected, 1e-6);
}

// -------------------------------------------------------------------------------------------------- what they promise

/// The methods that need fitting, trained as briefly as tests allow.
const std::vector<std::string> kFitted = {"am3:steps=300:dropout=0.3", "am3-traml:steps=300:dropout=0.3",
                                          "multi-sem:steps=300:dropout=0.3", "sem-align:steps=300:hidden=64",
                                          "fslkt:steps=100"};

const ToyWorld& toy() {
  static const ToyWorld kToy = toy_world();
  return kToy;
}

LabelledFeatures toy_split(Split split) {
  const FeatureSet& all = toy().features;
  std::vector<int64_t> rows;
  for (size_t i = 0; i < all.labels.size(); ++i) {
    if (all.class_split[static_cast<size_t>(all.labels[i])] == split) rows.push_back(static_cast<int64_t>(i));
  }
  const at::Tensor index = at::tensor(rows, at::kLong);
  return testing::labelled(tensor_of(all.features).index_select(0, index),
                           at::tensor(all.labels, at::kLong).index_select(0, index));
}

FitInputs toy_inputs() {
  return {toy_split(Split::kBase), toy_split(Split::kVal), &toy().knowledge, &toy().features.class_names, 5};
}

double accuracy_on_novel(const Method& method) {
  FitInputs novel;
  novel.base = toy_split(Split::kNovel);
  Rng rng(11);
  const TrainingTasks tasks =
      draw_training_tasks(training_classes(novel, nullptr, "test", 2).train, {200, 4, 1, 10}, rng);
  MethodContext context;
  context.knowledge = &toy().knowledge;
  context.class_names = &toy().features.class_names;
  return task_accuracy(testing::scores_of(method, context, tasks.batch).logits, tasks.labels);
}

class FittedSystem : public ::testing::TestWithParam<std::string> {};

TEST_P(FittedSystem, LearnsFromBaseClassesWhatKnowledgeIsWorthOnNovelOnes) {
  const auto mean = make_method("mean");
  const auto method = make_method(GetParam());
  method->fit(toy_inputs());
  EXPECT_GT(accuracy_on_novel(*method), accuracy_on_novel(*mean) + 0.05);
  EXPECT_THAT(method->findings().front(), HasSubstr("held out"));
}

TEST_P(FittedSystem, GivesTheSameStateForTheSameInputsAndAnyScaleOfTheFeatures) {
  const std::string text = std::regex_replace(GetParam(), std::regex("steps=[0-9]+"), "steps=40");
  const auto once = make_method(text);
  once->fit(toy_inputs());
  FitInputs scaled = toy_inputs();
  scaled.base.features = array_of(tensor_of(scaled.base.features) * 32);
  scaled.val.features = array_of(tensor_of(scaled.val.features) * 32);
  const auto again = make_method(text);
  again->fit(scaled);
  const MethodState a = once->state();
  const MethodState b = again->state();
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    if (a.tensors[i].first.rfind("space.", 0) == 0) continue;
    EXPECT_TRUE(tensor_of(a.tensors[i].second).equal(tensor_of(b.tensors[i].second))) << a.tensors[i].first;
  }
}

TEST_P(FittedSystem, SaysWhatIsWrongWithItsInputs) {
  const auto method = make_method(GetParam());
  FitInputs without = toy_inputs();
  without.knowledge = nullptr;
  EXPECT_THAT(message_of([&] { method->fit(without); }), HasSubstr("needs knowledge of the classes"));
  FitInputs one_class = toy_inputs();
  one_class.base.features = one_class.base.features.rows(0, 30);
  one_class.base.labels.resize(30);
  EXPECT_THAT(message_of([&] { method->fit(one_class); }), HasSubstr("at least 2 base classes"));
  FitInputs alike = toy_inputs();
  alike.base.features = array_of(at::ones_like(tensor_of(alike.base.features)));
  EXPECT_THAT(message_of([&] { method->fit(alike); }), HasSubstr("identical"));
}

TEST_P(FittedSystem, RefusesOtherFeaturesOtherKnowledgeAndDamagedTensors) {
  const std::string name = GetParam().substr(0, GetParam().find(':'));
  const auto method = small().loaded(name);
  EpisodeBatch narrow = small().batch;
  narrow.support = narrow.support.slice(3, 0, 3);
  narrow.query = narrow.query.slice(2, 0, 3);
  EXPECT_THAT(message_of([&] { static_cast<void>(testing::scores_of(*method, small().context, narrow)); }),
              HasSubstr("features of 5 dimensions, found 3"));
  KnowledgeTable other = small().knowledge;
  other.class_embedding = array_of(at::ones({3, 7}));
  other.attribute_embedding = array_of(at::ones({3, 7}));
  MethodContext context = small().context;
  context.knowledge = &other;
  EXPECT_THAT(message_of([&] { static_cast<void>(method->prepare(context)); }), HasSubstr("same kind of knowledge"));
  MethodState damaged = method->state();
  for (auto& [tensor_name, tensor] : damaged.tensors) {
    if (tensor_name.find("output.bias") != std::string::npos) tensor = Array::zeros({3});
  }
  EXPECT_THAT(message_of([&] { make_method(name)->load(damaged); }), HasSubstr("output.bias"));
}

std::string fitted_test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.find(':'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registry, FittedSystem, ::testing::ValuesIn(kFitted), fitted_test_name);

TEST(Vfsl, TellsNovelClassesApartAfterFittingWithoutClassesToChooseOn) {
  const auto method = make_method("vfsl:steps=200:learning_rate=0.003:divergence=0.1");
  FitInputs inputs = toy_inputs();
  inputs.val = {};
  method->fit(inputs);
  EXPECT_GT(accuracy_on_novel(*method), 0.4) << "chance is 0.25";
}

TEST(MetaBaseline, LearnsASmallerFactorWhereImagesAreHarder) {
  const auto factor = [](double noise) {
    const auto method = make_method("meta-baseline:steps=300");
    FitInputs inputs = toy_inputs();
    at::manual_seed(1);
    const at::Tensor features = tensor_of(inputs.val.features);
    inputs.val.features = array_of(features + noise * at::randn_like(features));
    method->fit(inputs);
    return tensor_of(method->state().at("log_scale")).exp().item<double>();
  };
  EXPECT_LT(factor(1.0), 0.8 * factor(0.0));
}

TEST(SRestoreNet, WithAPoolLooksAtNoQuery) {
  const testing::Scorer scorer(*small().loaded("srestore-net"), small().context);
  EpisodeBatch pooled = small().batch;
  pooled.unlabelled = small().batch.query;
  EXPECT_LT(error_of(scorer.score(pooled).prototypes, scorer.score(small().batch).prototypes), 1e-6);
  pooled.query = pooled.query + 1;
  EXPECT_LT(error_of(scorer.score(pooled).prototypes, scorer.score(small().batch).prototypes), 1e-6);
}

TEST(TrainingClasses, AreValOrEveryFourthBaseClass) {
  FitInputs inputs;
  inputs.base = testing::labelled(at::rand({40, 3}), at::arange(8, at::kLong).repeat_interleave(5));
  const TrainingClasses alone = training_classes(inputs, nullptr, "test", 2);
  EXPECT_EQ(alone.train.labels, (std::vector<int64_t>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(alone.held_out.labels, (std::vector<int64_t>{3, 7}));
  inputs.val = testing::labelled(at::rand({6, 3}), at::tensor({9, 9, 9, 11, 11, 11}, at::kLong));
  const TrainingClasses with_val = training_classes(inputs, nullptr, "test", 2);
  EXPECT_EQ(with_val.train.classes(), 8);
  EXPECT_EQ(with_val.held_out.labels, (std::vector<int64_t>{9, 11}));
  EXPECT_EQ(with_val.held_out.rows[1], (std::vector<int64_t>{3, 4, 5}));
}

TEST(TrainingTasks, HaveEachImageOnceAndQueriesOfTheirOwnClass) {
  ClassImages images;
  images.features = at::arange(60, at::kFloat).view({60, 1});
  for (int64_t k = 0; k < 6; ++k) {
    images.labels.push_back(100 + k);
    images.rows.emplace_back();
    for (int64_t i = 0; i < 10; ++i) images.rows.back().push_back(10 * k + i);
  }
  Rng rng(3);
  const TrainingTasks tasks = draw_training_tasks(images, {7, 5, 2, 15}, rng);
  EXPECT_EQ(tasks.batch.support.sizes(), (std::vector<int64_t>{7, 5, 2, 1}));
  EXPECT_EQ(tasks.batch.query.sizes(), (std::vector<int64_t>{7, 40, 1}))
      << "ten images per class, two of them supports";
  const at::Tensor of_support = (tasks.batch.support / 10).floor().to(at::kLong) + 100;
  EXPECT_TRUE(of_support.eq(tasks.batch.classes.view({7, 5, 1, 1})).all().item<bool>());
  const at::Tensor of_query = (tasks.batch.query / 10).floor().to(at::kLong).squeeze(-1) + 100;
  EXPECT_TRUE(of_query.equal(tasks.batch.classes.gather(1, tasks.labels)));
  const at::Tensor all = at::cat({tasks.batch.support.view({7, 10}), tasks.batch.query.view({7, 40})}, 1);
  for (int64_t t = 0; t < 7; ++t) EXPECT_EQ(std::get<0>(at::_unique2(all[t])).numel(), 50);
}

TEST(StepTraining, KeepsTheParametersThatWereBestOnWhatWasHeldOut) {
  at::Tensor x = at::full({}, 3.0).requires_grad_();
  const auto loss = [&] { return x.square(); };
  const auto near_two = [&] { return -std::abs(x.item<double>() - 2); };
  const StepTrained trained = train_steps({x}, {"test", 400, 0.01, 0, 400}, loss, near_two, Progress::none());
  EXPECT_NEAR(x.item<double>(), 2, 0.02);
  EXPECT_NEAR(trained.held_out, 0, 0.02);
  EXPECT_FALSE(x.requires_grad());
  x = at::full({}, 3.0).requires_grad_();
  EXPECT_EQ(train_steps({x}, {"test", 2000, 0.01}, loss, nullptr, Progress::none()).step, -1);
  EXPECT_NEAR(x.item<double>(), 0, 0.02) << "nothing to choose by: the last";
}

TEST(StepTraining, SaysThatItDiverged) {
  at::Tensor x = at::full({}, 3.0).requires_grad_();
  const auto loss = [&] { return x / 0; };
  EXPECT_THAT(message_of([&] {
                train_steps({x}, {"test", 1}, loss, nullptr, Progress::none());
              }),
              HasSubstr("lower learning rate"));
}

}  // namespace
}  // namespace protocom
