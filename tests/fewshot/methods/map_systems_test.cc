// The compared systems that use feature maps, against tests/golden/map_systems.py, and further properties of each.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "fewshot/methods.h"
#include "heads/detail/training_tasks.h"
#include "support/golden.h"
#include "support/labelled.h"
#include "support/message_of.h"
#include "support/parameter_name.h"
#include "support/scorer.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::error_of;
using protocom::testing::golden;
using protocom::testing::message_of;
using protocom::testing::tensor_of;
using ::testing::HasSubstr;

at::Tensor map_tensor(const nlohmann::json& json) {
  if (json.is_array() && json.front().is_number_integer()) return tensor_of(json).to(at::kLong);  // the maps' size
  return json.is_number() ? at::full({}, json.get<double>()) : tensor_of(json).to(at::kFloat);
}

/// Returns the method as fitted by tests/golden/map_systems.py.
std::unique_ptr<Method> golden_map_system(const std::string& text) {
  auto method = make_method(text);
  MethodState state;
  const nlohmann::json tensors = golden("systems", "map_systems.json").at(text).at("state");
  for (const auto& [name, values] : tensors.items()) state.tensors.emplace_back(name, array_of(map_tensor(values)));
  method->load(state);
  return method;
}

/// Returns its episode.
EpisodeBatch golden_maps() {
  const nlohmann::json episode = golden("episode", "map_systems.json");
  EpisodeBatch batch;
  batch.support = map_tensor(episode.at("support")).flatten(2).unsqueeze(0);
  batch.query = map_tensor(episode.at("query")).flatten(1).unsqueeze(0);
  return batch;
}

std::vector<std::string> typed_map_systems() {
  std::vector<std::string> names;
  const nlohmann::json systems = golden("systems", "map_systems.json");
  for (const auto& [name, one] : systems.items()) names.push_back(name);
  return names;
}

class MapSystem : public ::testing::TestWithParam<std::string> {};

TEST_P(MapSystem, AnswersAsItsEquationsDo) {
  const at::Tensor expected = tensor_of(golden("systems", "map_systems.json").at(GetParam()).at("answers"));
  const testing::Scorer scorer(*golden_map_system(GetParam()), {});
  const at::Tensor found = scorer.score(golden_maps()).logits.squeeze(0).to(at::kDouble).log_softmax(-1);
  EXPECT_LT(error_of(found, expected), 1e-5) << found << expected;
}

INSTANTIATE_TEST_SUITE_P(Golden, MapSystem, ::testing::ValuesIn(typed_map_systems()),
                         ::protocom::testing::parameter_name);

// -------------------------------------------------------------------------------------------------- what they promise

constexpr int64_t kWords = 3;
constexpr int64_t kChannels = 12;
constexpr int64_t kEach = 20;
constexpr int64_t kTrained = 20;  // base classes, then as many val classes as novel ones
constexpr int64_t kOthers = 8;

/// Maps whose first half of channels tells a class's position among words, and whose second half is equally strong
/// noise.
struct MapWorld {
  MapWorld() {
    at::manual_seed(3);
    const int64_t classes = kTrained + 2 * kOthers;
    knowledge.class_embedding = array_of(at::randn({classes, kWords}));
    knowledge.association = array_of(at::zeros({classes, 1}));
    knowledge.attribute_embedding = array_of(at::zeros({1, kWords}));
    knowledge.attributes = {"none"};
    for (int64_t i = 0; i < classes; ++i) knowledge.classes.push_back("class" + std::to_string(i));
    const at::Tensor told = at::matmul(tensor_of(knowledge.class_embedding), at::randn({kWords, kChannels / 2}));
    labels = at::arange(classes, at::kLong).repeat_interleave(kEach);
    const at::Tensor stated = told.index_select(0, labels) + 0.3 * at::randn({labels.size(0), kChannels / 2});
    const at::Tensor pooled = at::cat({stated, 3 * at::randn_like(stated)}, 1).view({-1, kChannels, 1, 1});
    maps = (pooled + 0.3 * at::randn({labels.size(0), kChannels, 2, 2})).to(at::kHalf);
  }

  [[nodiscard]] at::Tensor rows(int64_t first_class, int64_t classes) const {
    return at::arange(first_class * kEach, (first_class + classes) * kEach, at::kLong);
  }
  [[nodiscard]] LabelledFeatures labelled(const at::Tensor& which) const {
    return testing::labelled(at::zeros({which.size(0), 2}), labels.index_select(0, which));
  }
  [[nodiscard]] FitInputs inputs() const {
    const at::Tensor base = rows(0, kTrained);
    const at::Tensor val = rows(kTrained, kOthers);
    FitInputs given{labelled(base), labelled(val), &knowledge, &knowledge.classes, 5};
    given.maps = {array_of(maps), numbers_of(base), numbers_of(val)};
    return given;
  }
  /// Returns the accuracy with five ways and one shot, on the novel classes.
  [[nodiscard]] double accuracy(const Method& method) const {
    FitInputs novel;
    const at::Tensor which = rows(kTrained + kOthers, kOthers);
    novel.base = labelled(which);
    novel.maps = {array_of(maps), numbers_of(which), {}};
    const TrainingClasses classes = training_maps(novel, "test", 2);
    const testing::Scorer scorer(method, {});
    return accuracy_on_tasks(classes.train, {20, 5, 1, 10}, 10,
                             [&](const EpisodeBatch& batch) { return scorer.score(batch).logits; });
  }

  KnowledgeTable knowledge;
  at::Tensor labels, maps;
};

const MapWorld& map_world() {
  static const MapWorld kWorld;
  return kWorld;
}

const std::vector<std::string> kLearned = {"cfa:steps=300", "ctm:steps=100:channels=12", "tri-net:steps=100:made=1"};

std::string with_steps(const std::string& text, int steps) {
  const size_t at = text.find("steps=");
  return text.substr(0, at) + "steps=" + std::to_string(steps) + text.substr(std::min(text.find(':', at), text.size()));
}

class FittedOnMaps : public ::testing::TestWithParam<std::string> {};

TEST_P(FittedOnMaps, LearnsWhichChannelsTellClassesApart) {
  const auto untrained = make_method(with_steps(GetParam(), 1) + ":learning_rate=1e-08");
  untrained->fit(map_world().inputs());
  const auto method = make_method(GetParam() + ":learning_rate=0.01");
  method->fit(map_world().inputs());
  EXPECT_GT(map_world().accuracy(*method), map_world().accuracy(*untrained) + 0.05);
  EXPECT_THAT(method->findings().front(), HasSubstr("held out"));
}

TEST_P(FittedOnMaps, LooksAtTheRowsItIsGivenAlone) {
  const auto text = with_steps(GetParam(), 3);
  const auto method = make_method(text);
  method->fit(map_world().inputs());
  FitInputs inputs = map_world().inputs();
  inputs.maps.maps = inputs.maps.maps.copy();
  tensor_of(inputs.maps.maps).slice(0, (kTrained + kOthers) * kEach).fill_(std::numeric_limits<float>::quiet_NaN());
  const auto again = make_method(text);
  again->fit(inputs);
  for (size_t i = 0; i < method->state().tensors.size(); ++i)
    EXPECT_TRUE(tensor_of(method->state().tensors[i].second).equal(tensor_of(again->state().tensors[i].second))) << i;
}

TEST_P(FittedOnMaps, SaysWhatIsWrongWithItsInputs) {
  const std::string name = GetParam().substr(0, GetParam().find(':'));
  const auto method = make_method(name);
  FitInputs without = map_world().inputs();
  without.maps = {};
  EXPECT_THAT(message_of([&] { method->fit(without); }), HasSubstr("needs feature maps (protocom extract --maps)"));
  FitInputs alike = map_world().inputs();
  alike.maps.maps = array_of(at::ones_like(tensor_of(alike.maps.maps)));
  EXPECT_THAT(message_of([&] { method->fit(alike); }), HasSubstr("identical"));
  FitInputs infinite = map_world().inputs();
  infinite.maps.maps = infinite.maps.maps.copy();
  tensor_of(infinite.maps.maps)[3][1][0][1] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(message_of([&] { method->fit(infinite); }), HasSubstr("the feature maps are not finite"));
  EpisodeBatch nan = golden_maps();
  nan.query[0][1][2] = std::numeric_limits<float>::quiet_NaN();
  const auto ready = golden_map_system(name == "tri-net" ? "tri-net:made=0" : name);
  EXPECT_THAT(message_of([&] { static_cast<void>(testing::scores_of(*ready, {}, nan)); }),
              HasSubstr("the feature maps are not finite"));
}

TEST_P(FittedOnMaps, RefusesOtherMapsAndDamagedTensors) {
  const std::string name = GetParam().substr(0, GetParam().find(':'));
  const auto method = golden_map_system(name == "tri-net" ? "tri-net:made=0" : name);
  EpisodeBatch narrow = golden_maps();
  narrow.support = narrow.support.slice(3, 0, 20);
  narrow.query = narrow.query.slice(2, 0, 20);
  EXPECT_THAT(message_of([&] { static_cast<void>(testing::scores_of(*method, {}, narrow)); }),
              HasSubstr("maps of 20 values an image, the method was fitted on 4 x 2 x 3"));
  MethodContext turned;
  turned.maps = Array::zeros({5, 4, 3, 2});
  EXPECT_THAT(message_of([&] { static_cast<void>(method->prepare(turned)); }),
              HasSubstr("fitted on feature maps of [4, 2, 3], found [4, 3, 2]"));
  for (const auto& [tensor_name, tensor] : method->state().tensors) {
    MethodState damaged = method->state();
    for (auto& [other, value] : damaged.tensors) {
      if (other == tensor_name) value = Array::zeros({2, 2, 2});
    }
    EXPECT_THAT(message_of([&] { make_method(name)->load(damaged); }), HasSubstr(tensor_name));
  }
}

std::string learned_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.find(':'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registry, FittedOnMaps, ::testing::ValuesIn(kLearned), learned_name);

TEST(Cfa, RefusesGroupsThatAreNotEqual) {
  EXPECT_THAT(message_of([] { make_method("cfa:groups=5")->fit(map_world().inputs()); }),
              HasSubstr("'cfa': 12 channels cannot be in 5 equal groups"));
}

TEST(TriNet, NeedsKnowledgeToBeFitted) {
  FitInputs inputs = map_world().inputs();
  inputs.knowledge = nullptr;
  EXPECT_THAT(message_of([&] { make_method("tri-net")->fit(inputs); }), HasSubstr("needs knowledge of the classes"));
}

TEST(TriNet, DrawsTheSameNoiseForTheSameSeed) {
  const auto method = golden_map_system("tri-net:noise=0:made=2:c=3");
  const auto noisy = make_method("tri-net:noise=1:made=2");
  noisy->load(method->state());
  const auto answers = [&](uint64_t seed) {
    EpisodeBatch batch = golden_maps();
    batch.seed = {seed};
    return testing::scores_of(*noisy, {}, batch).logits;
  };
  EXPECT_TRUE(answers(1).equal(answers(1)));
  EXPECT_GT((answers(1) - answers(2)).abs().max().item<double>(), 1e-3);
}

}  // namespace
}  // namespace protocom
