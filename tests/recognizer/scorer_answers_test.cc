#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "datasets/feature_set.h"
#include "fewshot/paper/completion_model.h"
#include "fewshot/scorer_group.h"
#include "heads/protocomnet.h"
#include "io/files.h"
#include "recognizer/class_scorer.h"
#include "recognizer/create_recognizer.h"
#include "support/labelled.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temp_dir.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMostShots = 5, kQueries = 15, kAttributes = 6;

/// Features of base and novel classes, with a random description of each.
struct ManyImages {
  at::Tensor features, labels;  // [m, d], int64 [m]
  std::vector<int64_t> base, novel;
  KnowledgeTable knowledge;
};

/// Returns [q, c].
at::Tensor logits_of(const ClassScorer& scorer, const at::Tensor& queries) {
  return tensor_of(array_of_matrix(scorer.score(array_of(queries)).logits));
}

ManyImages described(at::Tensor features, at::Tensor labels, int64_t classes) {
  ManyImages made{std::move(features), std::move(labels), {}, {}, {}};
  for (int64_t k = 0; k < classes; ++k) made.knowledge.classes.push_back(fmt::format("class {}", k));
  for (int64_t a = 0; a < kAttributes; ++a) made.knowledge.attributes.push_back(fmt::format("attribute {}", a));
  at::manual_seed(11);
  made.knowledge.association = array_of(at::rand({classes, kAttributes}).lt(0.5).to(at::kFloat));
  made.knowledge.class_embedding = array_of(at::randn({classes, 4}));
  made.knowledge.attribute_embedding = array_of(at::randn({kAttributes, 4}));
  return made;
}

ManyImages toy_images() {
  ToyWorldOptions options;
  options.base = 30;
  const ToyWorld world = toy_world(options);
  ManyImages made = described(tensor_of(world.features.features), at::tensor(world.features.labels, at::kLong),
                              static_cast<int64_t>(world.features.class_names.size()));
  for (int64_t k = 0; k < static_cast<int64_t>(made.knowledge.classes.size()); ++k)
    (k < options.base ? made.base : made.novel).push_back(k);
  return made;
}

ManyImages real_images() {
  const FeatureSet set = read_features(*real_data() / "tiny-imagenet-100-resnet12.npz");
  ManyImages made = described(tensor_of(set.features), at::tensor(set.labels, at::kLong),
                              static_cast<int64_t>(set.class_names.size()));
  made.base = set.classes_of(Split::kBase);
  made.novel = set.classes_of(Split::kNovel);
  return made;
}

std::vector<int64_t> images_of_class(const ManyImages& images, int64_t k, int64_t most) {
  const at::Tensor rows = images.labels.eq(k).nonzero().flatten().slice(0, 0, most).contiguous();
  return {rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel()};
}

/// Returns an untrained model, so that it completes prototypes to something.
CompletionModel some_model(const ManyImages& images) {
  const int64_t dim = images.features.size(1);
  at::manual_seed(12);
  const ProtoComNetOptions sizes{dim, 4, 8, 6, 9};
  return {sizes,
          weights_of(ProtoComNet(sizes)),
          images.knowledge.attributes,
          images.knowledge.attribute_embedding,
          array_of(at::rand({kAttributes, dim})),
          array_of(at::rand({kAttributes, dim}))};
}

FittedMethod fitted_to(const ManyImages& images, const std::string& text) {
  std::vector<int64_t> rows;
  for (const int64_t k : images.base) {
    const auto own = images_of_class(images, k, 60);
    rows.insert(rows.end(), own.begin(), own.end());
  }
  const at::Tensor which = at::tensor(rows, at::kLong);
  FitInputs inputs;
  inputs.knowledge_use = KnowledgeUse::kAlways;
  inputs.base = labelled(images.features.index_select(0, which), images.labels.index_select(0, which));
  inputs.knowledge = &images.knowledge;
  inputs.class_names = &images.knowledge.classes;
  const std::shared_ptr<Method> method = make_method(text);
  method->fit(inputs);
  return {method, images.features.size(1), {}};
}

/// Returns one episode of the novel classes with 1 to 5 images per class, as in evaluation.
RowBatch episode_of(const ManyImages& images) {
  RowBatch rows;
  rows.n = static_cast<int64_t>(images.novel.size());
  rows.k = kMostShots;
  rows.classes = images.novel;
  rows.seed = {0};
  for (int64_t i = 0; i < rows.n; ++i) {
    const auto own = images_of_class(images, images.novel[static_cast<size_t>(i)], kMostShots + kQueries);
    for (int64_t j = 0; j < kMostShots; ++j)
      rows.support.push_back(j <= i % kMostShots ? own[static_cast<size_t>(j)] : -1);
    rows.query.insert(rows.query.end(), own.begin() + kMostShots, own.end());
  }
  rows.q = static_cast<int64_t>(rows.query.size());
  return rows;
}

/// Returns the same images, enrolled.
EnrolledClasses enrolled_of(const ManyImages& images, const RowBatch& rows) {
  EnrolledClasses enrolled;
  enrolled.feature_dim = images.features.size(1);
  enrolled.attributes = images.knowledge.attributes;
  for (int64_t i = 0; i < rows.n; ++i) {
    const int64_t k = rows.classes[static_cast<size_t>(i)];
    StoredClass one;
    one.name = images.knowledge.classes[static_cast<size_t>(k)];
    one.description = {"", images.knowledge.association.row(k), images.knowledge.class_embedding.row(k), "table"};
    std::vector<int64_t> own;
    for (int64_t j = 0; j < rows.k; ++j) {
      const int64_t row = rows.support[static_cast<size_t>(i * rows.k + j)];
      if (row >= 0) own.push_back(row);
    }
    one.count = static_cast<int64_t>(own.size());
    one.features = array_of(images.features.index_select(0, at::tensor(own, at::kLong)));
    enrolled.classes.push_back(std::move(one));
  }
  return enrolled;
}

/// Returns the text of the method whose fitted files a method takes, with few steps if it takes steps: equality needs
/// no good fit.
std::string fitted_text(const MethodSpec& spec) {
  const std::string name = spec.fitted_as.empty() ? spec.name : spec.fitted_as;
  const auto& parameters = make_method(name)->spec().parameters;
  const bool steps =
      std::any_of(parameters.begin(), parameters.end(), [](const ParameterSpec& one) { return one.name == "steps"; });
  return steps ? name + ":steps=20" : name;
}

/// Returns whether a recognizer takes the method: of a completion model, or fitted.
bool is_offered(const MethodSpec& spec) {
  return !spec.has(Need::kBaseFeatures) && !spec.has(Need::kFeatureMaps) && !spec.has(Need::kOtherClasses) &&
         !spec.has(Need::kMatchedText);
}

/// Returns the classes as kept by a recognizer of the model: described by what the model knows.
EnrolledClasses kept_for(const StoreModel& model, EnrolledClasses enrolled) {
  if (!model.fitted) return enrolled;
  enrolled.attributes = model.attributes();
  if (!enrolled.attributes.empty()) return enrolled;
  for (StoredClass& one : enrolled.classes) one.description.association = array_of(at::zeros({0}));
  return enrolled;
}

/// Checks the methods of a completion model, and the fitted ones named by `fits`; all for an empty list.
void expect_the_predictions_of_evaluation(const ManyImages& images, const std::vector<std::string>& fits = {}) {
  const at::NoGradGuard no_grad;
  const RowBatch rows = episode_of(images);
  const EnrolledClasses enrolled = enrolled_of(images, rows);
  const StoreModel completing{some_model(images), {}};
  const at::Tensor queries = images.features.index_select(0, at::tensor(rows.query, at::kLong));
  const KnowledgeTable& known = images.knowledge;
  std::map<std::string, StoreModel> fitted;
  int64_t offered = 0;
  for (const MethodSpec* spec : method_specs()) {
    const std::string fit = fitted_text(*spec);
    if (!is_offered(*spec)) continue;
    if (spec->has(Need::kFitting) && !fits.empty() && std::count(fits.begin(), fits.end(), fit) == 0) continue;
    ++offered;
    if (spec->has(Need::kFitting) && fitted.count(fit) == 0) {
      const at::AutoGradMode with_grad(true);
      fitted[fit] = {{}, fitted_to(images, fit)};
    }
    const StoreModel& model = spec->has(Need::kFitting) ? fitted.at(fit) : completing;
    const std::string text = spec->has(Need::kFitting) && spec->fitted_as.empty() ? fit : spec->name;
    MethodContext context;
    if (model.completion) context.model = &*model.completion;
    context.classes = &known;
    context.knowledge = &images.knowledge;
    context.class_names = &images.knowledge.classes;
    std::vector<FittedMethod> files;
    if (model.fitted) files = {*model.fitted};
    const ScorerGroup evaluation(make_methods({text}, files), context, array_of(images.features));
    const at::Tensor expected = tensor_of(evaluation.score(rows).front().logits).squeeze(0).argmax(1);
    const EnrolledClasses kept = kept_for(model, enrolled);
    const at::Tensor found = logits_of(ClassScorer(kept, model, {text}), queries).argmax(1);
    EXPECT_EQ(found.ne(expected).sum().item<int64_t>(), 0) << text << ", of " << rows.q << " predictions";
  }
  EXPECT_GE(offered, fits.empty() ? 16 : 8) << "the paper's rows, plda and plda-vb among them";
}

TEST(ScorerAnswers, EveryMethodPredictsWhatEvaluationDoes) { expect_the_predictions_of_evaluation(toy_images()); }

TEST(ScorerAnswers, EveryMethodPredictsWhatEvaluationDoesOnRealFeatures) {
  REQUIRE_REAL_DATA();
  expect_the_predictions_of_evaluation(real_images(), {"plda"});
}

TEST(ScorerAnswers, AMethodThatAnswersByOtherClassesTooIsRefused) {
  const ManyImages images = toy_images();
  const StoreModel model{{}, fitted_to(images, "fslkt:steps=2")};
  const auto refusal = HasSubstr("'fslkt' needs knowledge of classes outside the task, which a recognizer");
  EXPECT_THAT(usage_message_of([&] { ClassScorer(enrolled_of(images, episode_of(images)), model); }), refusal);
  const TempDir folder;
  write_fitted_method(folder / "fslkt.npz", *model.fitted, {}, nlohmann::json::object());
  RecognizerParts parts;
  parts.backbone = folder / "backbone.npz";
  write_file(parts.backbone, "never opened");
  parts.fitted = folder / "fslkt.npz";
  EXPECT_THAT(usage_message_of([&] { create_recognizer(folder / "new.pcm", parts, {}); }), refusal);
}

/// Returns the share of queries that are answered by the first class.
double share_of_first(const StoreModel& model, const EnrolledClasses& enrolled, const at::Tensor& queries) {
  const at::Tensor logits = logits_of(ClassScorer(enrolled, model, {"plda"}), queries);
  return logits.argmax(1).eq(0).to(at::kDouble).mean().item<double>();
}

// Twenty classes of 1 to 5 images, each of which is the first in turn; descriptions are random, so that they are
// uninformative. On average such a class gets half of its share after 15 base classes and two thirds after 8 (0.025 and
// 0.034 where its share is 0.05): a mean of one image is farther from everything.
TEST(ScorerAnswers, AOneImageClassGetsItsShareWithAndWithoutDescription) {
  REQUIRE_REAL_DATA();
  const at::NoGradGuard no_grad;
  ManyImages images = real_images();
  const auto lists = static_cast<double>(images.novel.size());
  for (const size_t base : {15, 8}) {
    images.base.resize(base);
    const StoreModel model{{}, fitted_to(images, "plda")};
    double described = 0, bare = 0;
    for (size_t list = 0; list < images.novel.size(); ++list) {
      std::rotate(images.novel.begin(), images.novel.begin() + 1, images.novel.end());
      const RowBatch rows = episode_of(images);
      const at::Tensor queries = images.features.index_select(0, at::tensor(rows.query, at::kLong));
      EnrolledClasses enrolled = enrolled_of(images, rows);
      described += share_of_first(model, enrolled, queries) / lists;
      enrolled.classes[0].description.association = array_of(at::zeros({kAttributes}));
      enrolled.classes[0].description.embedding = array_of(at::zeros({4}));
      bare += share_of_first(model, enrolled, queries) / lists;
    }
    const double own = 1 / lists;
    EXPECT_NEAR(described, own, 0.6 * own) << base << " base classes";
    EXPECT_NEAR(bare, own, 0.6 * own) << base << " base classes, not described";
  }
}

}  // namespace
}  // namespace protocom::testing
