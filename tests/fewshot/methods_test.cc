#include "fewshot/methods.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "fewshot/fitted_method.h"
#include "fewshot/paper/completion_model.h"
#include "fewshot/scorer_group.h"
#include "heads/paper_training.h"
#include "heads/protocomnet.h"
#include "support/gathered.h"
#include "support/labelled.h"
#include "support/message_of.h"
#include "support/parameter_name.h"
#include "support/scorer.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using ::testing::HasSubstr;

TEST(MethodText, SetsParametersAndComesBackAsALabel) {
  EXPECT_EQ(make_method("mean")->label(), "mean");
  EXPECT_EQ(make_method("gauss-fusion:scale=20")->label(), "gauss-fusion:scale=20");
  EXPECT_EQ(make_method("gauss-fusion:scale=10")->label(), "gauss-fusion") << "10 is the default";
  EXPECT_EQ(make_method("gauss-fusion:epsilon=1e-05:scale=20.0")->label(), "gauss-fusion:scale=20:epsilon=1e-05");
  EXPECT_EQ(make_method("simple-shot:transform=l2n")->label(), "simple-shot:transform=l2n");
}

TEST(MethodText, IsRefusedWithWhatWouldBeRight) {
  EXPECT_THAT(message_of([] { make_method("gaus-fusion"); }), HasSubstr("did you mean 'gauss-fusion'"));
  EXPECT_THAT(message_of([] { make_method("gauss-fusion:scal=1"); }), HasSubstr("did you mean 'scale'"));
  EXPECT_THAT(message_of([] { make_method("gauss-fusion:scale=ten"); }), HasSubstr("real number in [0, inf]"));
  EXPECT_THAT(message_of([] { make_method("gauss-fusion:scale=-1"); }), HasSubstr("found '-1'"));
  EXPECT_THAT(message_of([] { make_method("gauss-fusion:scale=inf"); }), HasSubstr("found 'inf'"));
  EXPECT_THAT(message_of([] { make_method("gauss-fusion:scale"); }), HasSubstr("name=value"));
  EXPECT_THAT(message_of([] { make_method("gauss-fusion:scale=1:scale=2"); }), HasSubstr("duplicate parameter"));
  EXPECT_THAT(message_of([] { make_method("restore-net:steps=1.5"); }), HasSubstr("whole number"));
  EXPECT_THAT(message_of([] { make_method("simple-shot:transform=l3n"); }), HasSubstr("none, l2n, cl2n"));
  EXPECT_THROW(make_methods({}), UsageError);
  EXPECT_THROW(make_methods({"mean", "mean:gamma=0"}), UsageError) << "the same method twice";
}

TEST(CheckedLabel, IsThatOfTheMethodAndRefusesWhatThatDoes) {
  for (const char* text : {"gauss-fusion", "gauss-fusion:scale=10", "mean:gamma=4", "restore-net:steps=50:share=0.5"})
    EXPECT_EQ(checked_label(text), make_method(text)->label());
  for (const char* text :
       {"gaus-fusion", "cfa:group=4", "cfa:groups=0", "cfa:mixing=some", "mean:gamma", "mean:gamma=1:gamma=2"}) {
    const std::string refusal = message_of([&] { checked_label(text); });
    EXPECT_FALSE(refusal.empty()) << text;
    EXPECT_EQ(refusal, message_of([&] { make_method(text); }));
  }
}

TEST(LabelMeant, IsTheExactOneElseTheOnlyOneOfThatNameWhereNoParameterIsTyped) {
  const std::vector<std::string> labels = {"mean",         "plda:prior=none", "plda",
                                           "tim:steps=10", "gauss-fusion",    "restore-net:steps=50"};
  EXPECT_EQ(label_meant(labels, "plda"), "plda") << "though another one of that name stands before it";
  EXPECT_EQ(label_meant(labels, "plda:prior=none"), "plda:prior=none");
  EXPECT_EQ(label_meant(labels, "plda:scale=2"), "") << "a parameter that was typed is not ignored";
  EXPECT_EQ(label_meant(labels, "gauss-fusion:scale=10"), "gauss-fusion") << "10 is the default";
  EXPECT_EQ(label_meant(labels, "tim"), "tim:steps=10");
  EXPECT_EQ(label_meant(labels, "restore-net"), "restore-net:steps=50");
  EXPECT_EQ(label_meant(labels, "simple-shot"), "");
  EXPECT_THAT(message_of([] {
                label_meant({"tim:steps=10", "tim:steps=20"}, "tim");
              }),
              HasSubstr("'tim' is ambiguous (tim:steps=10 or tim:steps=20)"));
  EXPECT_THROW(label_meant(labels, "magic"), UsageError);
}

TEST(KnowledgePairs, AreAMethodWithAndWithoutWhatItKnows) {
  using Pairs = std::vector<KnowledgePair>;
  EXPECT_EQ(knowledge_pairs({"plda:prior=none", "plda", "mean"}), (Pairs{{"plda", "plda:prior=none"}}));
  EXPECT_EQ(knowledge_pairs({"plda:prior=sem-align", "plda:prior=none"}),
            (Pairs{{"plda:prior=sem-align", "plda:prior=none"}}));
  EXPECT_EQ(knowledge_pairs({"plda:prior=sem-align", "plda:prior=kernel-ridge", "plda:prior=none"}), Pairs{});
  EXPECT_EQ(knowledge_pairs({"plda-vb", "plda:prior=none", "a method: of others"}), Pairs{});
}

/// Returns a head as it is fitted for a given number of shots.
FittedMethod head_for(const std::string& text) {
  const std::shared_ptr<Method> head = make_method(text);
  head->load({{{"log_scale", array_of(at::ones({}))}}});
  return {head, 8};
}

TEST(FittedFiles, OfOneMethodAreToldApartByWhatTheyWereFittedWith) {
  const std::vector<FittedMethod> files = {head_for("meta-baseline"), head_for("meta-baseline:shots=5")};
  const Methods both = make_methods({"meta-baseline:shots=5", "meta-baseline"}, files);
  EXPECT_EQ(both[0], files[1].method);
  EXPECT_EQ(both[1], files[0].method);
  EXPECT_EQ(make_method("meta-baseline:steps=500:shots=5", files)->label(), "meta-baseline:shots=5");
  EXPECT_THAT(message_of([&] { make_method("meta-baseline:steps=7:shots=5", files); }),
              HasSubstr("matches none of the files given"));
  EXPECT_THAT(message_of([&] {
                make_method("meta-baseline:steps=500", {files[1], files[1]});
              }),
              HasSubstr("matches several of the files given (meta-baseline:shots=5, meta-baseline:shots=5)"));
  EXPECT_THAT(message_of([&] { make_methods({"meta-baseline:shots=5"}, files); }),
              HasSubstr("no method uses the file of 'meta-baseline'"));
  EXPECT_EQ(default_methods(nullptr, files),
            (std::vector<std::string>{"meta-baseline", "meta-baseline:shots=5", "mean"}));
}

TEST(FittedShots, AreThoseOfTheFileWhateverElseIsAskedFor) {
  const std::shared_ptr<Method> head = make_method("meta-baseline:shots=5");
  head->load({{{"log_scale", array_of(at::ones({}))}}});
  const std::vector<FittedMethod> file = {{head, 8}};
  EXPECT_EQ(fitted_shots(*make_methods({"meta-baseline"}, file).front()), 5);
  EXPECT_EQ(make_methods({"meta-baseline:steps=500"}, file).front()->label(), "meta-baseline:shots=5")
      << "a variant of the same state";
  EXPECT_THAT(message_of([&] { make_methods({"meta-baseline:shots=2"}, file); }), HasSubstr("fitted with shots=5"));
  EXPECT_FALSE(fitted_shots(*make_method("restore-net")).has_value()) << "fitted for any number";
  EXPECT_FALSE(fitted_shots(*make_method("mean")).has_value());
}

TEST(FittedMethods, AreNotAskedForWithWhatTheyWereNotFittedWith) {
  const std::shared_ptr<Method> head = make_method("meta-baseline:steps=7");
  head->load({{{"log_scale", array_of(at::ones({}))}}});
  const std::vector<FittedMethod> file = {{head, 8}};
  EXPECT_EQ(make_methods({"meta-baseline:steps=7"}, file).front()->label(), "meta-baseline:steps=7");
  EXPECT_THAT(message_of([&] { make_methods({"meta-baseline:steps=500"}, file); }),
              HasSubstr("fitted with steps=7: run `protocom fit` with the steps you want"))
      << "also where what is requested is the default";
}

TEST(FittedShots, OfAnotherTaskAreSaidWithBothNumbers) {
  const auto head = make_method("am3:shots=5");
  EXPECT_EQ(warning_of_other_shots(*head, {5, 5}), "");
  EXPECT_EQ(warning_of_other_shots(*make_method("restore-net"), {1, 1}), "");
  EXPECT_THAT(warning_of_other_shots(*head, {1, 1}), HasSubstr("fitted for 5 labelled images per class, found 1: "));
  EXPECT_THAT(warning_of_other_shots(*head, {1, 5}), HasSubstr("found 1 to 5"));
}

TEST(MethodNeeds, AreOptionalWhereTheMethodByItsNameAloneWorksWithout) {
  const auto optional = [](const char* name, Need need) { return is_optional(method_spec(name), need); };
  for (const char* name : {"tim", "linear-svm", "paddle"}) EXPECT_TRUE(optional(name, Need::kBaseFeatures)) << name;
  for (const char* name : {"knn", "simple-shot", "bavardage"})
    EXPECT_FALSE(optional(name, Need::kBaseFeatures)) << name;
  EXPECT_TRUE(optional("plda", Need::kFitting));
  EXPECT_FALSE(optional("am3", Need::kFitting));
  EXPECT_FALSE(optional("completed", Need::kCompletionModel));
  const nlohmann::json listed = to_json(method_spec("plda"));
  EXPECT_EQ(listed.at("optional"), nlohmann::json({"fitting"}));
  EXPECT_EQ(listed.at("needs"), nlohmann::json::array());
}

TEST(MethodList, BeginsWithThePapersRowsAndHasEachNameOnce) {
  EXPECT_THAT(paper_rows(), ::testing::ElementsAre("mean", "completed", "mean-fusion", "gauss-fusion"));
  std::set<std::string> names;
  for (const MethodSpec* spec : method_specs()) {
    EXPECT_TRUE(names.insert(spec->name).second) << spec->name;
    EXPECT_FALSE(spec->about.empty()) << spec->name;
    EXPECT_FALSE(spec->citation.empty()) << spec->name;
    for (const ParameterSpec& parameter : spec->parameters) EXPECT_FALSE(parameter.text.empty()) << parameter.name;
  }
  EXPECT_EQ(method_specs()[3]->name, "gauss-fusion");
  EXPECT_EQ(std::count_if(method_specs().begin(), method_specs().end(),
                          [](const auto* spec) { return spec->trained_by_torch; }),
            12);
}

// ------------------------------------------------------------------------------- the contract that every method keeps

constexpr int64_t kWorldDim = 20;
constexpr int64_t kClasses = 12;  // the first eight are base classes
constexpr int64_t kWorldBase = 8;
constexpr int64_t kWorldImages = 25;

/// Easily distinguished classes, base features, knowledge and an untrained completion network.
struct MethodsWorld {
  MethodsWorld() {
    model.sizes = {kWorldDim, 3, 8, 6, 9};
    model.weights = weights_of(ProtoComNet(model.sizes));
    model.attributes = {"a", "b", "c", "d"};
    at::manual_seed(7);
    const at::Tensor centres = at::rand({kClasses, kWorldDim});
    features = centres.repeat_interleave(kWorldImages, 0) + 0.2 * at::rand({kClasses * kWorldImages, kWorldDim});
    labels = at::arange(kClasses, at::kLong).repeat_interleave(kWorldImages);
    base = testing::labelled(features.slice(0, 0, kWorldBase * kWorldImages),
                             labels.slice(0, 0, kWorldBase * kWorldImages));
    model.attribute_embedding = array_of(at::randn({4, 3}));
    model.attribute_mean = array_of(at::rand({4, kWorldDim}));
    model.attribute_std = array_of(at::rand({4, kWorldDim}));
    classes.association = array_of(at::rand({kClasses, 4}).lt(0.5).to(at::kFloat));
    classes.class_embedding = array_of(at::randn({kClasses, 3}));
    maps = features.view({-1, kWorldDim, 1, 1}) * (0.5 + at::rand({kClasses * kWorldImages, kWorldDim, 2, 2}));
    maps = maps.to(at::kHalf);
    for (int64_t i = 0; i < kClasses; ++i) class_names.push_back("class" + std::to_string(i));
    knowledge.classes = class_names;
    knowledge.attributes = model.attributes;
    knowledge.association = classes.association;
    knowledge.class_embedding =
        array_of(centres + 0.1 * at::randn({kClasses, kWorldDim}));  // like those of a matching text encoder
    knowledge.attribute_embedding = array_of(at::randn({4, kWorldDim}));
  }

  /// Returns the table whose rows episodes of a method index.
  [[nodiscard]] Array table() const { return array_of(features); }
  [[nodiscard]] at::Tensor table_of(const Method& method) const {
    return method.spec().has(Need::kFeatureMaps) ? maps.flatten(1) : features;
  }

  [[nodiscard]] MethodContext context() const {
    MethodContext known;
    known.model = &model;
    known.classes = &classes;
    known.base = &base;
    known.knowledge = &knowledge;
    known.class_names = &class_names;
    known.maps = array_of(maps);
    return known;
  }

  CompletionModel model;
  KnowledgeTable classes;
  KnowledgeTable knowledge;
  std::vector<std::string> class_names;
  at::Tensor features, labels;
  at::Tensor maps;  // float16 [m, kWorldDim, 2, 2], of the same images
  LabelledFeatures base;
};

const MethodsWorld& methods_world() {
  static const MethodsWorld kWorld;
  return kWorld;
}

/// Returns two episodes of four ways, three shots and six queries per class, with queries in random order.
RowBatch some_rows(bool ragged = false, int64_t pool = 0) {
  RowBatch rows;
  rows.n = 4;
  rows.k = 3;
  rows.q = 24;
  rows.u = 4 * pool;
  for (int64_t e = 0; e < 2; ++e) {
    rows.seed.push_back(static_cast<uint64_t>(e));
    for (int64_t i = 0; i < rows.n; ++i) {
      const int64_t label = kWorldBase + (i + e) % 4;
      rows.classes.push_back(label);
      for (int64_t j = 0; j < rows.k; ++j)
        rows.support.push_back(ragged && j > i % 3 ? -1 : label * kWorldImages + j + e);
    }
    for (int64_t q = 0; q < rows.q; ++q) rows.query.push_back((kWorldBase + q * 7 % 4) * kWorldImages + 5 + q / 4 + e);
    for (int64_t u = 0; u < rows.u; ++u) rows.unlabelled.push_back((kWorldBase + u % 4) * kWorldImages + 14 + u / 4);
  }
  return rows;
}

/// Returns one episode of a batch.
EpisodeBatch slice(const EpisodeBatch& batch, int64_t i) {
  EpisodeBatch one = batch;
  for (at::Tensor* tensor : {&one.support, &one.support_mask, &one.query, &one.unlabelled, &one.classes}) {
    if (tensor->defined()) *tensor = tensor->slice(0, i, i + 1);
  }
  one.seed = {batch.seed[static_cast<size_t>(i)]};
  return one;
}

double far(const at::Tensor& a, const at::Tensor& b) { return (a - b).abs().max().item<double>(); }

/// Returns the method, trained for enough steps to distinguish easy classes.
std::shared_ptr<Method> trained_briefly(const std::shared_ptr<Method>& method) {
  const auto& parameters = method->spec().parameters;
  const bool has_steps =
      std::any_of(parameters.begin(), parameters.end(), [](const ParameterSpec& one) { return one.name == "steps"; });
  return has_steps ? make_method(method->spec().name + ":steps=50") : method;
}

/// Returns the method, fitted if it needs it; once for all tests.
std::shared_ptr<Method> ready(const std::string& name) {
  static std::map<std::string, std::shared_ptr<Method>> methods;
  auto& method = methods[name];
  if (method != nullptr) return method;
  method = make_method(name);
  const std::string& source = method->spec().fitted_as;
  if (!source.empty()) {
    method->load(ready(source)->state());
  } else if (method->spec().has(Need::kFitting)) {
    FitInputs inputs{methods_world().base, {}, &methods_world().knowledge, &methods_world().class_names, 3};
    inputs.knowledge_use = KnowledgeUse::kAlways;
    inputs.maps = {array_of(methods_world().maps), numbers_of(at::arange(kWorldBase * kWorldImages, at::kLong)), {}};
    const auto trained = trained_briefly(method);
    trained->fit(inputs);
    if (trained != method) method->load(trained->state());
  }
  return method;
}

/// Counts of a fitted plda are stored as numbers with a fraction.
TEST(FittedPlda, RefusesANumberThatNoFitMakes) {
  const std::vector<std::pair<std::string, double>> damages = {
      {"leading", 1e300}, {"leading", 0}, {"steps", 1e300}, {"steps", -1}, {"steps", 1e6}};
  for (const auto& [damaged, count] : damages) {
    MethodState state = ready("plda")->state();
    for (auto& [name, tensor] : state.tensors) {
      if (name == damaged) tensor = Array::of<double>({count}, {});
    }
    EXPECT_THAT(message_of([&] { make_method("plda")->load(state); }),
                AllOf(HasSubstr("'" + damaged + "'"), HasSubstr("expected")))
        << count;
  }
}

TEST(DefaultMethods, LeadWithWhatIsFittedThenTheSameWithoutKnowledgeThenABatch) {
  const std::vector<FittedMethod> file = {{ready("plda"), 8}};
  ASSERT_FALSE(file[0].method->state().attributes.empty());
  EXPECT_EQ(default_methods(nullptr, file), (std::vector<std::string>{"plda", "plda:prior=none", "plda-vb", "mean"}));
  EXPECT_EQ(labels_of(make_methods(default_methods(nullptr, file), file)), default_methods(nullptr, file));
  EXPECT_EQ(default_methods(nullptr, {}), (std::vector<std::string>{"mean"}));
}

TEST(FittedFiles, KeepWhatFittingFound) {
  const testing::TempDir folder;
  write_fitted_method(folder / "f.npz", {ready("plda"), 8, {"a"}, {"Knowledge adds 2.0 ± 0.5 points."}}, {}, {});
  EXPECT_EQ(read_fitted_method(folder / "f.npz").findings,
            std::vector<std::string>{"Knowledge adds 2.0 ± 0.5 points."});
}

class MethodContract : public ::testing::TestWithParam<std::string> {
 protected:
  MethodContract() : method_(ready(GetParam())), scorer_(*method_, methods_world().context()) {}

  [[nodiscard]] at::Tensor logits(const EpisodeBatch& batch) const { return scorer_.score(batch).logits; }

  [[nodiscard]] EpisodeBatch batch_of(const RowBatch& rows) const {
    return testing::gathered(methods_world().table_of(*method_), rows);
  }

  std::shared_ptr<Method> method_;
  testing::Scorer scorer_;
  EpisodeBatch batch_ = batch_of(some_rows());
};

TEST_P(MethodContract, GivesFiniteLogitsOfTheRightShapeThatTellEasyClassesApart) {
  const at::Tensor found = logits(batch_);
  ASSERT_EQ(found.sizes(), at::IntArrayRef({2, 24, 4}));
  EXPECT_TRUE(found.isfinite().all().item<bool>());
  const testing::TensorScores scores = scorer_.score(batch_);
  if (scores.prototypes.defined()) {
    EXPECT_EQ(scores.prototypes.sizes(), at::IntArrayRef({2, 4, kWorldDim}));
  }
  if (GetParam() == "completed") return;  // by an untrained network
  const at::Tensor truth = (at::tensor(some_rows().query, at::kLong).div(kWorldImages, "floor")).view({2, 24});
  const at::Tensor winner = batch_.classes.gather(1, found.argmax(-1));
  EXPECT_GT(winner.eq(truth).to(at::kFloat).mean().item<double>(), 0.9);
}

TEST_P(MethodContract, IsIndifferentToTheOrderOfTheQueries) {
  at::manual_seed(1);
  const at::Tensor order = at::randperm(24);
  EpisodeBatch permuted = batch_;
  permuted.query = batch_.query.index_select(1, order);
  EXPECT_LT(far(logits(permuted), logits(batch_).index_select(1, order)), 1e-4);
}

TEST_P(MethodContract, IsIndifferentToTheOrderOfTheClasses) {
  const at::Tensor order = at::tensor({2, 0, 3, 1}, at::kLong);
  EpisodeBatch permuted = batch_;
  permuted.support = batch_.support.index_select(1, order);
  permuted.classes = batch_.classes.index_select(1, order);
  EXPECT_LT(far(logits(permuted), logits(batch_).index_select(2, order)), 1e-4);
}

TEST_P(MethodContract, GivesAnEpisodeWhatItGetsAlone) {
  const at::Tensor together = logits(batch_);
  for (int64_t i = 0; i < 2; ++i) EXPECT_LT(far(logits(slice(batch_, i)), together.slice(0, i, i + 1)), 1e-4);
}

TEST_P(MethodContract, LooksAtOtherQueriesOnlyIfItSaysSo) {
  EpisodeBatch fewer = batch_;
  fewer.query = batch_.query.slice(1, 0, 5);
  const double change = far(logits(fewer), logits(batch_).slice(1, 0, 5));
  if (method_->spec().sees == Sees::kEachQueryAlone) {
    EXPECT_LT(change, 1e-4);
  } else {
    EXPECT_GT(change, 1e-3);
  }
}

TEST_P(MethodContract, WithAPoolNoQueryDependsOnAnother) {
  const EpisodeBatch pooled = batch_of(some_rows(false, 5));
  EpisodeBatch fewer = pooled;
  fewer.query = pooled.query.slice(1, 0, 5);
  EXPECT_LT(far(logits(fewer), logits(pooled).slice(1, 0, 5)), 1e-4);
}

TEST_P(MethodContract, TakesRaggedShots) {
  const EpisodeBatch ragged = batch_of(some_rows(true));
  ASSERT_TRUE(ragged.support_mask.defined());
  const at::Tensor found = logits(ragged);
  EXPECT_TRUE(found.isfinite().all().item<bool>());
  // The values in place of missing supports must not matter.
  EpisodeBatch littered = ragged;
  littered.support = ragged.support + 9 * (1 - ragged.support_mask).unsqueeze(-1);
  EXPECT_LT(far(logits(littered), found), 1e-4);
}

TEST_P(MethodContract, IsTheSameAfterSavingAndLoading) {
  if (!method_->spec().has(Need::kFitting)) {
    EXPECT_TRUE(method_->state().empty());
    EXPECT_THROW(method_->fit({methods_world().base}), UsageError);
    return;
  }
  const testing::TempDir folder;
  const auto path = folder / "fitted.npz";
  write_fitted_method(path, {method_, kWorldDim, {"x"}}, {}, nlohmann::json::object());
  const FittedMethod read = read_fitted_method(path);
  EXPECT_EQ(read.method->label(), method_->label());
  EXPECT_EQ(read.feature_dim, kWorldDim);
  EXPECT_EQ(read.trained_on, std::vector<std::string>{"x"});
  EXPECT_EQ(far(testing::scores_of(*read.method, methods_world().context(), batch_).logits, logits(batch_)), 0);
  EXPECT_THROW(make_method(GetParam())->load({}), Error);
}

TEST_P(MethodContract, SaysWhatItNeedsBeforeTheFirstBatch) {
  const bool context_matters = method_->spec().has(Need::kCompletionModel) || method_->spec().has(Need::kKnowledge) ||
                               method_->needs(Need::kBaseFeatures) || method_->spec().has(Need::kFeatureMaps);
  if (context_matters) {
    EXPECT_THROW(check_needs(*method_, {}), UsageError);
  }
  if (method_->spec().has(Need::kFitting) && make_method(GetParam())->state().empty()) {
    EXPECT_THROW(check_needs(*make_method(GetParam()), methods_world().context()), UsageError);
  }
  EXPECT_NO_THROW(check_needs(*method_, methods_world().context()));
}

TEST_P(MethodContract, UsesKnowledgeOfTheTasksClassesOnlyUnlessItNeedsOthers) {
  const KnowledgeTable& all = methods_world().classes;
  const KnowledgeTable classes = unnamed_table(array_of(tensor_of(all.association).slice(0, kWorldBase)),
                                               array_of(tensor_of(all.class_embedding).slice(0, kWorldBase)));
  const std::vector<std::string> names(methods_world().class_names.begin() + kWorldBase,
                                       methods_world().class_names.end());
  KnowledgeTable knowledge = methods_world().knowledge;
  knowledge.classes = names;
  knowledge.association = classes.association;
  knowledge.class_embedding = array_of(tensor_of(knowledge.class_embedding).slice(0, kWorldBase));
  MethodContext context = methods_world().context();
  context.classes = &classes;
  context.knowledge = &knowledge;
  context.class_names = &names;
  EpisodeBatch batch = batch_;
  batch.classes = batch_.classes - kWorldBase;
  const double difference = far(testing::scores_of(*method_, context, batch).logits, logits(batch_));
  if (method_->spec().has(Need::kOtherClasses))
    EXPECT_GT(difference, 1e-4);
  else
    EXPECT_LT(difference, 1e-4);
}

TEST_P(MethodContract, GivesInAGroupWhatItsRunGives) {
  for (const RowBatch& rows : {some_rows(), some_rows(true), some_rows(false, 5)}) {
    const ScorerGroup group({method_}, methods_world().context(), methods_world().table());
    const testing::TensorScores found = testing::tensors_of(group.score(rows).front());
    const testing::TensorScores expected = scorer_.score(batch_of(rows));
    EXPECT_LT(far(found.logits, expected.logits), 1e-4);
    ASSERT_EQ(found.prototypes.defined(), expected.prototypes.defined());
    if (expected.prototypes.defined()) {
      EXPECT_LT(far(found.prototypes, expected.prototypes), 1e-5);
    }
  }
}

/// Returns a table in which every row that is not an image of an episode is `other`. [images, size]
at::Tensor only_the_images_of(const RowBatch& rows, const at::Tensor& table, float other) {
  at::Tensor kept = at::full_like(table, other);
  for (const auto* part : {&rows.support, &rows.query, &rows.unlabelled}) {
    for (const int64_t row : *part) {
      if (row >= 0) kept[row].copy_(table[row]);
    }
  }
  return kept;
}

TEST_P(MethodContract, ReadsNoImageInPlaceOfOneThatIsAbsent) {
  const RowBatch rows = some_rows(true);
  MethodContext context = methods_world().context();
  const Array expected = ScorerGroup({method_}, context, methods_world().table()).score(rows).front().logits;
  constexpr float kMostOfHalf = 65504;  // non-finite maps would be refused
  if (context.maps.defined()) context.maps = array_of(only_the_images_of(rows, tensor_of(context.maps), kMostOfHalf));
  const at::Tensor table = only_the_images_of(rows, methods_world().features, std::numeric_limits<float>::quiet_NaN());
  const ScorerGroup group({method_}, context, array_of(table));
  EXPECT_EQ(far(tensor_of(group.score(rows).front().logits), tensor_of(expected)), 0);
}

/// Returns class `k` of an episode.
TaskImages images_of(const EpisodeBatch& episode, int64_t k) {
  const at::Tensor there = episode.support_mask[0][k].nonzero().flatten();
  const FloatMatrix rows = float_matrix_of(episode.support[0][k].index_select(0, there));
  TaskImages images = TaskImages::of(rows, std::vector<int64_t>(static_cast<size_t>(rows.rows()), 0), 1);
  images.numbers = {episode.classes[0][k].item<int64_t>()};
  return images;
}

/// Returns the rows of classes that were placed one after the other.
PlacedClasses placed_one_by_one(const ClassPlacer& placer, const EpisodeBatch& episode) {
  std::vector<std::vector<Array>> rows;
  for (int64_t k = 0; k < episode.support.size(1); ++k) {
    const PlacedClasses placed = placer.place(images_of(episode, k));
    rows.resize(placed.size());
    for (size_t i = 0; i < placed.size(); ++i) rows[i].push_back(placed[i]);
  }
  PlacedClasses classes;
  for (const auto& parts : rows) classes.push_back(Array::joined(parts));
  return classes;
}

TEST_P(MethodContract, AClassThatIsPlacedByItselfIsWhatItIsInItsEpisode) {
  const auto placer = scorer_.prepared().placer;
  if (placer == nullptr) return;
  EXPECT_EQ(method_->spec().sees, Sees::kEachQueryAlone);
  const EpisodeBatch ragged = batch_of(some_rows(true));
  for (int64_t i = 0; i < 2; ++i) {
    const EpisodeBatch episode = slice(ragged, i);
    const testing::TensorScores expected = scorer_.score(episode);
    const PlacedClasses placed = placed_one_by_one(*placer, episode);
    const testing::TensorScores found = testing::tensors_of(placer->score(placed, float_matrix_of(episode.query)));
    ASSERT_EQ(found.logits.sizes(), expected.logits[0].sizes());
    EXPECT_LT(far(found.logits, expected.logits[0]), 1e-4);
    ASSERT_EQ(found.unseen.defined(), expected.unseen.defined());
    if (expected.unseen.defined()) {
      EXPECT_LT(far(found.unseen, expected.unseen[0]), 1e-4);
    }
  }
}

TEST_P(MethodContract, ClassesThatArePlacedTogetherAreWhatTheyAreInTheirEpisode) {
  const auto placer = scorer_.prepared().together;
  if (placer == nullptr) return;
  EXPECT_EQ(method_->spec().sees, Sees::kEachQueryAlone);
  EXPECT_EQ(scorer_.prepared().placer, nullptr);
  const EpisodeBatch episode = slice(batch_of(some_rows()), 0);
  const int64_t n = episode.support.size(1), k = episode.support.size(2);
  const at::Tensor rows = episode.support[0].flatten(0, 1).contiguous();
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n * k; ++i) labels.push_back(i / k);
  const PlacedClasses placed = placer->place(TaskImages::of(float_matrix_of(rows), labels, n));
  ASSERT_EQ(placed.size(), 1U);
  EXPECT_EQ(placed[0].size(0), n);
  const testing::TensorScores found = testing::tensors_of(placer->score(placed, float_matrix_of(episode.query)));
  const testing::TensorScores expected = scorer_.score(episode);
  EXPECT_LT(far(found.logits, expected.logits[0]), 1e-4);
}

TEST(MethodList, MethodsWithLinearLogitsPlaceAllClassesTogether) {
  for (const char* name : {"simple-shot", "proto-net", "gda", "linear-svm", "logistic-regression", "baseline-pp"})
    EXPECT_NE(ready(name)->prepare(methods_world().context()).together, nullptr) << name;
  for (const char* name : {"knn", "tim"})
    EXPECT_EQ(ready(name)->prepare(methods_world().context()).together, nullptr) << name;
}

TEST(MethodList, ThePapersInductiveRowsAndTheBayesianOnePlaceAClassByItself) {
  for (const char* name : {"mean", "completed", "mean-fusion", "plda"})
    EXPECT_NE(ready(name)->prepare(methods_world().context()).placer, nullptr) << name;
}

/// The reference of the paper's rows is the tensor form that training uses.
TEST(PaperRows, AnswerAsTheirFormOnTensorsDoes) {
  const MethodContext context = methods_world().context();
  const CompletePrototypes complete = complete_by(*context.model, *context.classes);
  const at::Tensor gamma = at::scalar_tensor(context.model->gamma);
  const at::NoGradGuard no_grad;
  for (const char* text : {"mean", "mean:gamma=4", "completed", "mean-fusion", "gauss-fusion", "gauss-fusion:scale=30",
                           "gauss-fusion:steps=2", "gauss-fusion:steps=4:scale=5:epsilon=.01"}) {
    const auto method = ready(text);
    const ScorerGroup group({method}, context, methods_world().table());
    for (const RowBatch& rows : {some_rows(), some_rows(true), some_rows(false, 5)}) {
      const BatchScores expected =
          paper_row_scores(*method, testing::gathered(methods_world().features, rows), complete, gamma);
      const testing::TensorScores found = testing::tensors_of(group.score(rows).front());
      EXPECT_LT(far(found.logits, expected.logits), 1e-4) << text;
      EXPECT_LT(far(found.prototypes, expected.prototypes), 1e-5) << text;
    }
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const MethodSpec* spec : method_specs()) names.push_back(spec->name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, MethodContract, ::testing::ValuesIn(all_names()),
                         ::protocom::testing::parameter_name);

// ------------------------------------------------------------------------------------------------------------- others

TEST(ScorerGroup, KeepsTheOrderOfTheMethodsAndTheirOwnParameters) {
  const auto methods = make_methods({"gauss-fusion:scale=30", "simple-shot", "mean:gamma=4", "gauss-fusion", "mean"});
  const auto scores = ScorerGroup(methods, methods_world().context(), methods_world().table()).score(some_rows());
  const EpisodeBatch batch = testing::gathered(methods_world().features, some_rows());
  ASSERT_EQ(scores.size(), 5U);
  for (size_t m = 0; m < methods.size(); ++m)
    EXPECT_LT(
        far(tensor_of(scores[m].logits), testing::scores_of(*methods[m], methods_world().context(), batch).logits),
        1e-4)
        << methods[m]->label();
  EXPECT_LT(far(tensor_of(scores[2].logits) * 2.5, tensor_of(scores[4].logits)), 1e-5) << "4 instead of 10";
}

/// Methods whose hand-written form reads rows in place, with further values of their parameters.
TEST(ScorerGroup, AnswersFromRowsWhereTheyLieAsFromTensors) {
  const auto methods = make_methods(
      {"simple-shot", "simple-shot:transform=power", "simple-shot:transform=none", "bd-cspn",
       "bd-cspn:variant=sum:scale=1", "laplacian-shot", "laplacian-shot:queries=unmoved",
       "laplacian-shot:prototypes=sum:queries=unmoved", "laplacian-shot:prototypes=mean:neighbours=5",
       "laplacian-shot:neighbours=100:steps=2", "laplacian-shot:steps=0", "tim:variant=gd:steps=30",
       "tim:variant=gd:steps=30:transform=cl2n", "alpha-tim:steps=30", "pt-map", "pt-map:transform=power:steps=5"});
  RowBatch unasked = some_rows(false, 5);
  unasked.q = 0;
  unasked.query.clear();
  RowBatch supports_alone = unasked;
  supports_alone.u = 0;
  supports_alone.unlabelled.clear();
  const MethodContext context = methods_world().context();
  const ScorerGroup group(methods, context, methods_world().table());
  for (const RowBatch& rows :
       {some_rows(), some_rows(true), some_rows(true, 5), unasked, supports_alone, part_of(some_rows(), 1, 2)}) {
    const auto scores = group.score(rows);
    const EpisodeBatch batch = testing::gathered(methods_world().features, rows);
    for (size_t m = 0; m < methods.size(); ++m) {
      const at::Tensor expected = testing::scores_of(*methods[m], context, batch).logits;
      ASSERT_EQ(tensor_of(scores[m].logits).sizes(), expected.sizes()) << methods[m]->label();
      if (rows.q == 0) continue;
      EXPECT_LT(far(tensor_of(scores[m].logits), expected), 1e-4) << methods[m]->label();
    }
  }
}

TEST(ScorerGroup, AnswersAnEpisodeTheSameToTheLastBitBesideOthersAndAlone) {
  const auto methods =
      make_methods({"simple-shot", "bd-cspn", "laplacian-shot", "tim:variant=gd:steps=30", "pt-map", "mean"});
  const ScorerGroup group(methods, methods_world().context(), methods_world().table());
  const auto together = group.score(some_rows());
  const auto alone = group.score(part_of(some_rows(), 1, 2));
  for (size_t m = 0; m < methods.size(); ++m)
    EXPECT_TRUE(tensor_of(together[m].logits).slice(0, 1, 2).equal(tensor_of(alone[m].logits))) << methods[m]->label();
}

TEST(ScorerGroup, RefusesAClassWithoutSupports) {
  RowBatch rows = some_rows();
  for (int64_t j = 0; j < rows.k; ++j) rows.support[static_cast<size_t>(rows.k + j)] = -1;
  for (const char* name : {"simple-shot", "soft-k-means", "completed", "gauss-fusion"}) {
    const ScorerGroup group({ready(name)}, methods_world().context(), methods_world().table());
    EXPECT_THAT(message_of([&] { std::ignore = group.score(rows); }), HasSubstr("at least one support")) << name;
  }
}

TEST(ScorerGroup, ScoresMapsThatAreTooManyToBeTensorsAtOnceInParts) {
  const RowBatch two = some_rows();
  RowBatch many = two;
  constexpr int64_t kTimes = 750;  // a little more than 16 MB
  for (int64_t i = 1; i < kTimes; ++i) {
    for (const auto part : {&RowBatch::classes, &RowBatch::support, &RowBatch::query})
      (many.*part).insert((many.*part).end(), (two.*part).begin(), (two.*part).end());
    many.seed.insert(many.seed.end(), two.seed.begin(), two.seed.end());
  }
  const ScorerGroup group({ready("cfa"), ready("mean")}, methods_world().context(), methods_world().table());
  const auto expected = group.score(two);
  const auto found = group.score(many);
  for (size_t m = 0; m < 2; ++m)
    EXPECT_LT(far(tensor_of(found[m].logits), tensor_of(expected[m].logits).repeat({kTimes, 1, 1})), 1e-4);
}

TEST(EpisodeBatch, IsRefusedWhenItsPartsDoNotFit) {
  EpisodeBatch batch = testing::gathered(methods_world().features, some_rows());
  EXPECT_NO_THROW(check_batch(batch));
  EpisodeBatch narrow = batch;
  narrow.query = batch.query.slice(2, 0, 3);
  EXPECT_THAT(message_of([&] { check_batch(narrow); }), HasSubstr("supports: expected [2, -1, -1, 3]"));
  EpisodeBatch empty = batch;
  empty.support_mask = at::zeros({2, 4, 3});
  EXPECT_THAT(message_of([&] { check_batch(empty); }), HasSubstr("at least one support"));
}

}  // namespace
}  // namespace protocom
