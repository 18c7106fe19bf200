#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "recognizer/calibration.h"
#include "recognizer/class_scorer.h"
#include "recognizer/store_support.h"
#include "support/message_of.h"
#include "support/toy_features.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

/// The novel classes of a toy world, enrolled for a Bayesian model fitted on its base classes, with 1, 3 and 2
/// images.
class FittedStore : public ::testing::Test {
 protected:
  static constexpr int64_t kShots[] = {1, 3, 2};

  void SetUp() override {
    ToyWorldOptions options;
    options.base = 30;
    world_ = toy_world(options);
    const at::Tensor base = world_.features.labels.lt(options.base).nonzero().flatten();
    const std::shared_ptr<Method> method = make_method("plda");
    FitInputs inputs;
    inputs.knowledge_use = KnowledgeUse::kAlways;
    inputs.base = {world_.features.features.index_select(0, base), world_.features.labels.index_select(0, base)};
    inputs.knowledge = &world_.knowledge;
    inputs.class_names = &world_.features.class_names;
    method->fit(inputs);
    model_.fitted = FittedMethod{method, world_.features.dim(), {}};
    first_ = options.base + options.val;
    fill_store();
  }

  /// Images are enrolled in turn, so that those of a class do not lie together.
  void fill_store() {
    store_ = small_store();
    store_.feature_dim = world_.features.dim();
    store_.attributes = model_.attributes();
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t row = first_ + k;
      add_class(store_, name(k),
                {"", world_.knowledge.association.row(row).copy(), world_.knowledge.class_embedding.row(row).copy(),
                 "table"});
    }
    for (int64_t shot = 0; shot < 3; ++shot) {
      for (int64_t k = 0; k < 3; ++k) {
        if (shot < kShots[k]) add_images(store_, name(k), images(k, shot, shot + 1));
      }
    }
  }

  std::string name(int64_t k) const { return world_.features.class_names[static_cast<size_t>(first_ + k)]; }
  at::Tensor images(int64_t k, int64_t begin, int64_t end) const {
    return world_.features.features.slice(0, (first_ + k) * 30 + begin, (first_ + k) * 30 + end);
  }
  at::Tensor queries() const { return at::cat({images(0, 10, 30), images(1, 10, 30), images(2, 10, 30)}); }

  /// What the method says of the same episode with the knowledge itself.
  at::Tensor expected(const std::string& text) const {
    MethodContext context;
    context.knowledge = &world_.knowledge;
    context.class_names = &world_.features.class_names;
    EpisodeBatch batch;
    batch.support = at::zeros({1, 3, 3, world_.features.dim()});
    batch.support_mask = at::zeros({1, 3, 3});
    for (int64_t k = 0; k < 3; ++k) {
      batch.support[0][k].slice(0, 0, kShots[k]).copy_(images(k, 0, kShots[k]));
      batch.support_mask[0][k].slice(0, 0, kShots[k]).fill_(1);
    }
    batch.query = queries().unsqueeze(0);
    batch.classes = at::arange(first_, first_ + 3).unsqueeze(0);
    const Methods methods = make_methods({text}, {*model_.fitted});
    return methods.front()->prepare(context)->score(batch).logits.squeeze(0).softmax(-1);
  }

  ToyWorld world_;
  StoreModel model_;
  EnrolledClasses store_;
  int64_t first_ = 0;
};

TEST_F(FittedStore, AnswersAsTheMethodDoesOnTheSameEpisode) {
  EXPECT_EQ(ClassScorer(store_, model_).method().label(), "plda");
  EXPECT_TRUE(at::allclose(ClassScorer(store_, model_).probabilities(queries()), expected("plda"), 1e-5, 1e-6));
  EXPECT_EQ(model_.transductive_method(), "plda-vb");
  EXPECT_TRUE(
      at::allclose(ClassScorer(store_, model_, {"plda-vb"}).probabilities(queries()), expected("plda-vb"), 1e-5, 1e-6));
}

TEST_F(FittedStore, AlsoTakesMethodsThatNeedEachSupport) {
  EXPECT_EQ(ClassScorer(store_, model_, {"baseline-pp"}).probabilities(queries()).size(1), 3);
  EXPECT_THAT(usage_message_of([&] { ClassScorer(store_, model_, {"mean-fusion"}); }), HasSubstr("completion model"));
}

TEST_F(FittedStore, AnImageIsAsFamiliarInABatchAsAlone) {
  const at::Tensor alone = familiarity(ClassScorer(store_, model_, {"plda"}).score(queries()));
  const at::Tensor batch = familiarity(ClassScorer(store_, model_, {"plda-vb"}).score(queries()));
  EXPECT_TRUE(at::allclose(alone, batch, 1e-4, 1e-4)) << (alone - batch).abs().max();
}

TEST_F(FittedStore, SaysWhatEachAttributeIsWorthToAClass) {
  constexpr int64_t kClass = 1;
  const at::Tensor feature = images(kClass, 10, 11)[0];
  const ClassScorer scorer(store_, model_);
  const at::Tensor effects = scorer.attribute_effects(kClass, feature);
  const at::Tensor has = tensor_of(store_.classes[kClass].description.association);
  ASSERT_EQ(effects.sizes(), has.sizes());
  EXPECT_TRUE(effects.ne(0).eq(has.ne(0)).all().item<bool>());
  for (int64_t a = 0; a < has.size(0); ++a) {
    if (has[a].item<float>() == 0) continue;
    EnrolledClasses two = store_;  // the class, and the class without the attribute
    two.classes = {store_.classes[kClass], store_.classes[kClass]};
    two.classes[1].name = "without";
    two.classes[1].description.association = array_of(has.clone());
    tensor_of(two.classes[1].description.association)[a] = 0;
    const at::Tensor logits = ClassScorer(two, model_).score(feature.unsqueeze(0)).logits.flatten();
    EXPECT_NEAR(effects[a].item<double>(), (logits[0] - logits[1]).item<double>(), 1e-3) << a;
  }
  EXPECT_FALSE(ClassScorer(store_, model_, {"plda-vb"}).attribute_effects(kClass, feature).defined());
}

TEST_F(FittedStore, ANewClassOfWhichNothingIsKnownHasAPriorOfItsOwn) {
  add_class(store_, "unheard", {"", at::zeros({12}), at::zeros({8}), "nothing"});
  add_images(store_, "unheard", images(0, 5, 6));
  const at::Tensor probabilities = ClassScorer(store_, model_).probabilities(queries());
  EXPECT_TRUE(at::isfinite(probabilities).all().item<bool>());
  EXPECT_EQ(probabilities.size(1), 4);
}

}  // namespace
}  // namespace protocom::testing
