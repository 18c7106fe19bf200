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

/// The novel classes of a toy world, enrolled for a Bayesian model fitted on its base classes, with 1, 3 and 2 images.
class FittedStore : public ::testing::Test {
 protected:
  static constexpr int64_t kShots[] = {1, 3, 2};

  void SetUp() override {
    ToyWorldOptions options;
    options.base = 30;
    world_ = toy_world(options);
    std::vector<int64_t> base;  // rows
    for (int64_t i = 0; i < world_.features.size(); ++i) {
      if (world_.features.labels[static_cast<size_t>(i)] < options.base) base.push_back(i);
    }
    const std::shared_ptr<Method> method = make_method("plda");
    FitInputs inputs;
    inputs.knowledge_use = KnowledgeUse::kAlways;
    inputs.base.features = world_.features.features.gathered(base);
    for (const int64_t row : base) inputs.base.labels.push_back(world_.features.labels[static_cast<size_t>(row)]);
    inputs.knowledge = &world_.knowledge;
    inputs.class_names = &world_.features.class_names;
    method->fit(inputs);
    model_.fitted = FittedMethod{method, world_.features.dim(), {}};
    first_ = options.base + options.val;
    fill_store();
  }

  /// Enrols images of the classes in turn, so that those of a class are not adjacent.
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
  Array images(int64_t k, int64_t begin, int64_t end) const {
    return world_.features.features.rows((first_ + k) * 30 + begin, (first_ + k) * 30 + end);
  }
  Array queries() const { return Array::joined({images(0, 10, 30), images(1, 10, 30), images(2, 10, 30)}); }

  /// Returns the method's answer for the same episode with the knowledge itself.
  FloatMatrix expected(const std::string& text) const {
    MethodContext context;
    context.knowledge = &world_.knowledge;
    context.class_names = &world_.features.class_names;
    std::vector<int64_t> labels;
    for (int64_t k = 0; k < 3; ++k) labels.resize(labels.size() + static_cast<size_t>(kShots[k]), k);
    const Array supports = Array::joined({images(0, 0, kShots[0]), images(1, 0, kShots[1]), images(2, 0, kShots[2])});
    TaskImages task = TaskImages::of(matrix_of<float>(supports), labels, 3);
    task.numbers = {first_, first_ + 1, first_ + 2};
    const PreparedMethod prepared = make_methods({text}, {*model_.fitted}).front()->prepare(context);
    const Array asked = queries();
    const FloatMatrix logits = answer_of(prepared, task.mapped(prepared.space.get()), matrix_of<float>(asked)).logits;
    const Array shares = array_of(tensor_of(array_of_matrix(logits)).softmax(-1));
    return matrix_of<float>(shares);
  }

  ToyWorld world_;
  StoreModel model_;
  EnrolledClasses store_;
  int64_t first_ = 0;
};

TEST_F(FittedStore, AnswersAsTheMethodDoesOnTheSameEpisode) {
  EXPECT_EQ(ClassScorer(store_, model_).method().label(), "plda");
  EXPECT_TRUE(probabilities(ClassScorer(store_, model_), queries()).isApprox(expected("plda"), 1e-5F));
  EXPECT_EQ(model_.transductive_method(), "plda-vb");
  EXPECT_TRUE(probabilities(ClassScorer(store_, model_, {"plda-vb"}), queries()).isApprox(expected("plda-vb"), 1e-5F));
}

TEST_F(FittedStore, AlsoTakesMethodsThatNeedEachSupport) {
  EXPECT_EQ(ClassScorer(store_, model_, {"baseline-pp"}).score(queries()).logits.cols(), 3);
  EXPECT_THAT(usage_message_of([&] { ClassScorer(store_, model_, {"mean-fusion"}); }), HasSubstr("completion model"));
}

TEST_F(FittedStore, AnImageIsAsFamiliarInABatchAsAlone) {
  const DoubleVector alone = familiarity(ClassScorer(store_, model_, {"plda"}).score(queries()));
  const DoubleVector batch = familiarity(ClassScorer(store_, model_, {"plda-vb"}).score(queries()));
  EXPECT_LT(((alone - batch).array().abs() / (1 + alone.array().abs())).maxCoeff(), 1e-4);
}

TEST_F(FittedStore, SaysWhatEachAttributeIsWorthToAClass) {
  constexpr int64_t kClass = 1;
  const Array feature = images(kClass, 10, 11);
  const ClassScorer scorer(store_, model_);
  const std::vector<float> effects = scorer.attribute_effects(kClass, feature);
  const Array& has = store_.classes[kClass].description.association;
  ASSERT_EQ(static_cast<int64_t>(effects.size()), has.numel());
  for (int64_t a = 0; a < has.numel(); ++a) {
    const float effect = effects[static_cast<size_t>(a)];
    EXPECT_EQ(effect != 0, has.data<float>()[a] != 0) << a;
    if (effect == 0) continue;
    EnrolledClasses two = store_;  // the class, and the class without the attribute
    two.classes = {store_.classes[kClass], store_.classes[kClass]};
    two.classes[1].name = "without";
    two.classes[1].description.association = has.copy();
    two.classes[1].description.association.mutable_data<float>()[a] = 0;
    const FloatMatrix logits = ClassScorer(two, model_).score(feature).logits;
    EXPECT_NEAR(effect, logits(0, 0) - logits(0, 1), 1e-3) << a;
  }
  EXPECT_TRUE(ClassScorer(store_, model_, {"plda-vb"}).attribute_effects(kClass, feature).empty());
}

TEST_F(FittedStore, ANewClassOfWhichNothingIsKnownHasAPriorOfItsOwn) {
  add_class(store_, "unheard", {"", Array::zeros({12}), Array::zeros({8}), "nothing"});
  add_images(store_, "unheard", images(0, 5, 6));
  const FloatMatrix found = probabilities(ClassScorer(store_, model_), queries());
  EXPECT_TRUE(found.allFinite());
  EXPECT_EQ(found.cols(), 4);
}

}  // namespace
}  // namespace protocom::testing
