#include "fewshot/plda/fit.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "base/error.h"
#include "fewshot/plda/detail/state.h"
#include "support/golden.h"
#include "support/matrices.h"
#include "support/message_of.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using testing::error_of;
using testing::message_of;

/// Returns classes whose means follow from their descriptions, up to a residual, with images around them.
PldaFitInputs inputs(int64_t base, int64_t val, int64_t each, int64_t d, uint64_t seed = 21) {
  at::manual_seed(seed);
  const int64_t classes = base + val;
  PldaFitInputs data;
  data.descriptions.association = array_of(at::rand({classes, 12}).gt(0.6).to(at::kFloat));
  data.descriptions.class_embedding = array_of(at::randn({classes, 6}));
  // One draw per statement: within one, compilers draw in different orders.
  const at::Tensor residual = 0.7 * at::randn({classes, d});
  const at::Tensor means = at::matmul(tensor_of(data.descriptions.association) - 0.4, at::randn({12, d})) + residual;
  const auto draw = [&](int64_t from, int64_t count) {
    const at::Tensor labels = at::arange(from, from + count, at::kLong).repeat_interleave(each);
    return std::make_pair(array_of(means.index_select(0, labels) + at::randn({count * each, d})), numbers_of(labels));
  };
  std::tie(data.base_features, data.base_labels) = draw(0, base);
  if (val > 0) std::tie(data.val_features, data.val_labels) = draw(base, val);
  return data;
}

int chosen(const PldaFit& fit, const std::string& what) {
  return static_cast<int>(std::count_if(fit.tried.begin(), fit.tried.end(),
                                        [&](const PldaTrial& trial) { return trial.what == what && trial.chosen; }));
}

TEST(PldaFit, ChoosesOneSettingOfEachAndSaysWhatItTried) {
  const PldaFit fit = fit_plda(inputs(24, 8, 20, 16));
  EXPECT_EQ(chosen(fit, "knowledge"), 1);
  EXPECT_EQ(chosen(fit, "shrinkage, floor"), 1);
  EXPECT_EQ(chosen(fit, "trust, spread"), 1);
  EXPECT_TRUE(fit.model.space.projection.allFinite());
  EXPECT_GT(fit.model.residual.minCoeff(), 0);
}

TEST(PldaFit, KeepsCloseToTheIdentityWhereNoClassCanBeLeftOut) {
  EXPECT_EQ(fit_plda(inputs(3, 0, 20, 16)).shrinkage, 0.85);
  EXPECT_EQ(fit_plda(inputs(3, 0, 400, 16)).shrinkage, 0.85);
  PldaFitOptions own;
  own.shrinkages = {0.3};
  EXPECT_EQ(fit_plda(inputs(3, 0, 20, 16), own).shrinkage, 0.3);
}

TEST(PldaFit, TriesASpaceCloseToTheIdentityWhereImagesOrClassesAreFew) {
  const auto tries = [](const PldaFit& fit) {
    return std::any_of(fit.tried.begin(), fit.tried.end(),
                       [](const PldaTrial& trial) { return trial.setting == "0.85, 1"; });
  };
  EXPECT_TRUE(tries(fit_plda(inputs(24, 8, 20, 16))));
  EXPECT_TRUE(tries(fit_plda(inputs(19, 8, 60, 16))));
  EXPECT_FALSE(tries(fit_plda(inputs(24, 8, 45, 16))));
}

// How far a first image may move among many classes is measured only where as many are held out.
TEST(PldaFit, MeasuresTheVarianceAroundKnowledgeInTasksOfManyClasses) {
  PldaFitOptions options;
  options.shrinkages = {0.1};
  options.floors = {1};
  const PldaFit many = fit_plda(inputs(60, 60, 6, 16), options);
  EXPECT_EQ(chosen(many, "variance around knowledge"), 1);
  options.variances_around = {0.5};
  const PldaFit half = fit_plda(inputs(60, 60, 6, 16), options);
  options.variances_around = {1};
  const PldaFit whole = fit_plda(inputs(60, 60, 6, 16), options);
  EXPECT_LT((2 * half.model.residual - whole.model.residual).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((half.model.space.between - whole.model.space.between).cwiseAbs().maxCoeff(), 1e-12);
  const PldaFit few = fit_plda(inputs(24, 8, 20, 16), options);
  EXPECT_EQ(chosen(few, "variance around knowledge"), 0);
}

TEST(PldaFit, TrueDescriptionsExplainVarianceAndShuffledOnesDoNot) {
  PldaFitInputs data = inputs(32, 8, 20, 16);
  const double told = fit_plda(data).model.explained;
  data.descriptions.association =
      array_of(tensor_of(data.descriptions.association).index_select(0, at::randperm(40, at::kLong)));
  const double shuffled = fit_plda(data).model.explained;
  EXPECT_GT(told, 0.3);
  EXPECT_LT(shuffled, 0.15);
}

/// Fits one space with few tasks: strength depends on neither.
PldaFit quick_fit(const PldaFitInputs& data) {
  PldaFitOptions options;
  options.shrinkages = {0.1};
  options.floors = {1};
  options.tasks = 2;
  return fit_plda(data, options);
}

/// Returns the squared length of the knowledge's predictions for val classes, relative to that of their means.
double share_followed(const PldaFitInputs& data, const PldaModel& model) {
  const UnitMoments val = unit_moments<float>(matrix_of<float>(data.val_features), data.val_labels, model.space.center);
  const DoubleMatrix predicted = model.knowledge->predict(data.descriptions.rows(val.classes));
  return predicted.squaredNorm() / model.space.transform_means(val.mean).squaredNorm();
}

// A regression on a dozen classes fits them whatever their descriptions; held-out classes tell how far to follow it.
// Predictions from useless knowledge are small, so that even a strength of 1, which occurs by chance, has little
// effect.
TEST(PldaFit, FollowsWhatItIsToldOfFewClassesAsFarAsHeldOutClassesDo) {
  constexpr int kDraws = 20;
  double told = 0;
  double misled = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    PldaFitInputs data = inputs(12, 24, 20, 16, 100 + static_cast<uint64_t>(draw));
    told += *quick_fit(data).strength / kDraws;
    data.descriptions.association = array_of(at::rand({36, 12}).gt(0.6).to(at::kFloat));
    const PldaFit fit = quick_fit(data);
    misled += *fit.strength / kDraws;
    EXPECT_LT(share_followed(data, fit.model), 0.25) << draw;
  }
  EXPECT_GT(told, 0.75);
  EXPECT_LT(misled, 0.45);
}

TEST(PldaFit, MeasuresWhatKnowledgeAdds) {
  PldaFitInputs data = inputs(32, 8, 20, 16);
  // Images scatter so far that a single one says little about its class.
  for (Array* features : {&data.base_features, &data.val_features}) {
    const at::Tensor clean = tensor_of(*features);
    *features = array_of(clean + 3 * at::randn_like(clean));
  }
  const std::vector<KnowledgeGain> told = fit_plda(data).gains;
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].k_shot, 1);
  EXPECT_EQ(told[1].k_shot, 5);
  EXPECT_GT(told[0].low, 0);
  EXPECT_GT(told[0].gain, told[1].gain);
  data.descriptions.association =
      array_of(tensor_of(data.descriptions.association).index_select(0, at::randperm(40, at::kLong)));
  EXPECT_LT(fit_plda(data).gains[0].gain, told[0].gain / 2);
  data.descriptions = {};
  EXPECT_TRUE(fit_plda(data).gains.empty());
}

TEST(PldaFit, TheGainsIntervalDependsOnClassesAndHardlyOnTasks) {
  const PldaFitInputs data = inputs(32, 8, 20, 16);
  PldaFitOptions options;
  options.shrinkages = {0.1};
  options.floors = {1};
  options.tasks = 20;
  const KnowledgeGain few = fit_plda(data, options).gains.at(0);
  options.tasks *= 8;
  const KnowledgeGain many = fit_plda(data, options).gains.at(0);
  EXPECT_GT(many.gain - many.low, 0.6 * (few.gain - few.low)) << "over tasks it would be 0.35 of it";
}

TEST(PldaFit, SaysWhatKnowledgeAdds) {
  EXPECT_EQ(
      knowledge_gain_sentence({{1, 54.94, 5.14, 4.24, 6.4}, {5, 74.0, 0.2, -0.3, 0.7}}),
      "Knowledge adds 4.2 to 6.4 points with 1 image per class (54.9 % without knowledge), adds nothing measurable "
      "with 5 images per class (74.0 % without knowledge), on held-out classes.");
  EXPECT_EQ(
      knowledge_gain_sentence({{1, 50, -2, -3, -1}}),
      "Knowledge costs 1.0 to 3.0 points with 1 image per class (50.0 % without knowledge), on held-out classes. The "
      "method plda:prior=none ignores it.");
  EXPECT_EQ(knowledge_gain_sentence({}), "");
}

TEST(PldaFit, GivesTheSameModelForTheSameInputs) {
  const PldaFitInputs data = inputs(12, 5, 10, 8);
  const PldaModel a = fit_plda(data).model;
  const PldaModel b = fit_plda(data).model;
  EXPECT_EQ(a.space.projection, b.space.projection);
  EXPECT_EQ(a.residual, b.residual);
}

TEST(PldaFit, FitsTenClassesInMoreDimensionsThanImages) {
  PldaFitInputs data = inputs(10, 0, 3, 64);
  data.descriptions = {};
  const PldaFit fit = fit_plda(data);
  EXPECT_EQ(fit.model.knowledge, nullptr);
  EXPECT_EQ(fit.model.explained, 0);
  EXPECT_EQ(knowledge_sentence(fit), "The model was fitted without knowledge of the classes.");
  EXPECT_TRUE(fit.model.space.transform(matrix_of<float>(data.base_features).cast<double>()).allFinite());
}

TEST(PldaFit, TakesTwoClassesToo) {
  PldaFitInputs data = inputs(2, 0, 5, 4);
  const PldaFit fit = fit_plda(data);
  EXPECT_GT(fit.model.space.between.minCoeff(), 0);
  // Nothing can be measured without classes, so that what was learned from two is not followed.
  EXPECT_FALSE(fit.strength.has_value());
  EXPECT_THAT(knowledge_sentence(fit), ::testing::HasSubstr("could not be measured"));
  const ClassMeanPrior prior = fit.model.prior(data.descriptions, 2);
  EXPECT_TRUE(prior.mean.isZero(0));
  EXPECT_LT((prior.variance.row(0).transpose() - fit.model.space.between).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(PldaModel, TreatsAClassWithoutDescriptionAsOneOfWhichNothingIsKnown) {
  const PldaFitInputs data = inputs(24, 8, 20, 16);
  const PldaModel model = fit_plda(data).model;
  KnowledgeTable two = data.descriptions.rows({0, 1});
  EXPECT_EQ(model.prior(two, 2).variance.rows(), 1);
  tensor_of(two.association)[1].zero_();
  tensor_of(two.class_embedding)[1].zero_();
  const ClassMeanPrior prior = model.prior(two, 2);
  EXPECT_TRUE(prior.mean.row(1).isZero(0));
  EXPECT_LT((prior.variance.row(1).transpose() - model.space.between).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((prior.variance.row(0).transpose() - model.residual).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_EQ(model.prior({}, 3).mean.rows(), 3);
  EXPECT_EQ(model.prior({}, 3).mean.cols(), 16);
}

std::vector<std::string> twelve_names() {
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("attribute" + std::to_string(i));
  return names;
}

TEST(PldaModel, ComesBackFromItsTensorsAsItWas) {
  const PldaFitInputs data = inputs(24, 8, 20, 16);
  const PldaModel model = fit_plda(data).model;
  const MethodState state = state_of(model, twelve_names());
  EXPECT_EQ(state.attributes.size(), 12U);
  const PldaModel back = plda_model_of(state);
  EXPECT_EQ(back.space.projection, model.space.projection);
  EXPECT_EQ(back.residual, model.residual);
  EXPECT_EQ(back.vb.trust, model.vb.trust);
  EXPECT_EQ(back.inductive_scale.none, model.inductive_scale.none);
  EXPECT_EQ(back.transductive_scale.five, model.transductive_scale.five);
  EXPECT_EQ(back.prior(data.descriptions, 32).mean, model.prior(data.descriptions, 32).mean);
}

TEST(PldaFit, TakesThePriorThatItIsTold) {
  const PldaFitInputs data = inputs(16, 6, 10, 8);
  const double ridge = fit_plda(data).model.explained_left_out;
  PldaFitOptions options;
  options.prior = "sem-align";
  const PldaModel model = fit_plda(data, options).model;
  ASSERT_NE(model.knowledge, nullptr);
  EXPECT_EQ(model.knowledge->name(), "sem-align");
  EXPECT_NE(model.explained_left_out, ridge);
  const PldaModel back = plda_model_of(state_of(model, twelve_names()));
  EXPECT_EQ(back.explained_left_out, model.explained_left_out);
  EXPECT_EQ(back.prior(data.descriptions, 22).mean, model.prior(data.descriptions, 22).mean);
}

// The regression is linear in the means, so it may be fitted in one unit of length and used in another.
TEST(PldaFit, KernelRidgeIsThatOfTheCalibratedSpaceTimesItsStrength) {
  const PldaFitInputs data = inputs(24, 8, 20, 16);
  const PldaFit fit = fit_plda(data);
  const UnitMoments base = unit_moments<float>(matrix_of<float>(data.base_features), data.base_labels,
                                               vector_of(tensor_of(data.base_features).mean(0, false, at::kDouble)));
  const DoubleMatrix there = fit_kernel_ridge(data.descriptions.rows(base.classes),
                                              fit.model.space.transform_means(base.mean), fit.model.knowledge_options)
                                 .predict(data.descriptions);
  const DoubleMatrix found = fit.model.knowledge->predict(data.descriptions);
  const double factor = found.norm() / there.norm();
  EXPECT_LT(error_of(protocom::tensor_of(found), protocom::tensor_of(DoubleMatrix(factor * there))),
            testing::kDoubleBound);
  EXPECT_NEAR(factor, *fit.strength, 1e-9);
}

TEST(PldaModel, RefusesTensorsThatAreDamaged) {
  const PldaModel model = fit_plda(inputs(12, 5, 10, 8)).model;
  const auto after = [&](const std::string& name, const std::function<void(at::Tensor&)>& change) {
    MethodState state = state_of(model, twelve_names());
    for (auto& [own, array] : state.tensors) {
      if (own != name) continue;
      at::Tensor tensor = protocom::tensor_of(array.copy());
      change(tensor);
      array = array_of(tensor.contiguous());
    }
    return message_of([&] { static_cast<void>(plda_model_of(state)); });
  };
  EXPECT_THAT(after("residual", [](at::Tensor& t) { t[2] = std::numeric_limits<double>::quiet_NaN(); }),
              ::testing::HasSubstr("'residual' is not finite"));
  EXPECT_THAT(after("between", [](at::Tensor& t) { t[0] = -1; }), ::testing::HasSubstr("negative variance"));
  EXPECT_THAT(after("projection", [](at::Tensor& t) { t = t.slice(0, 1); }), ::testing::HasSubstr("'projection'"));
  EXPECT_THAT(after("known_slope", [](at::Tensor& t) { t = t.slice(0, 1); }), ::testing::HasSubstr("'known_slope'"));
  EXPECT_THAT(after("inductive_scale", [](at::Tensor& t) { t[1] = 0; }),
              ::testing::HasSubstr("expected at least 1e-06"));
  EXPECT_THAT(after("known_alike", [](at::Tensor& t) { t[2] = -1; }), ::testing::HasSubstr("'known_alike' is -1"));
}

}  // namespace
}  // namespace protocom
