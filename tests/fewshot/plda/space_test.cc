#include "fewshot/plda/space.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "fewshot/plda/calibration.h"
#include "fewshot/plda/posterior.h"
#include "support/golden.h"
#include "support/plda_reference.h"

namespace protocom {
namespace {

using testing::error_of;
using testing::log_predictive;

struct Labelled {
  at::Tensor features;
  at::Tensor labels;
};

Labelled images(int64_t classes, int64_t each, int64_t d, uint64_t seed = 5) {
  at::manual_seed(seed);
  const at::Tensor stretch = at::rand({d}, at::kDouble) + 0.2;
  const at::Tensor labels = at::arange(classes, at::kLong).repeat_interleave(each);
  const at::Tensor means = at::randn({classes, d}, at::kDouble);
  return {means.index_select(0, labels) + stretch * at::randn({classes * each, d}, at::kDouble), labels};
}

PldaSpaceFitter fitter_of(const Labelled& data) {
  return PldaSpaceFitter(unit_moments(data.features, data.labels, data.features.mean(0)));
}

TEST(PldaSpace, WhitensTheShrunkCovarianceWithinClassesAndTurnsToThatBetween) {
  const Labelled data = images(6, 40, 10);
  const PldaSpaceFitter fitter = fitter_of(data);
  const PldaSpace space = fitter.space(0.1);
  const at::Tensor f = space.transform(data.features).view({6, 40, 10});
  const at::Tensor z = (data.features - data.features.mean(0));
  const at::Tensor unit = (z / z.norm(2, 1, true)).view({6, 40, 10});
  const at::Tensor deviation = (unit - unit.mean(1, true)).reshape({240, 10});
  const at::Tensor within = at::matmul(deviation.t(), deviation) / 234;
  const at::Tensor shrunk = 0.9 * within + 0.1 * within.trace() / 10 * at::eye(10, at::kDouble);
  const at::Tensor p = space.projection;
  EXPECT_LT(error_of(at::matmul(p.t(), at::matmul(shrunk, p)), at::eye(10, at::kDouble)), 1e-10);
  const at::Tensor means = f.mean(1);
  const at::Tensor between = at::matmul(means.t(), means) / 5 - at::eye(10, at::kDouble) / 40;
  EXPECT_EQ(space.leading, 5);
  EXPECT_LT(means.mean(0).abs().max().item<double>(), 1e-10);
  EXPECT_LT(error_of(between.narrow(0, 0, 5).narrow(1, 0, 5).diagonal(), space.between.narrow(0, 0, 5)), 1e-10);
  EXPECT_LT((between - at::diag(between.diagonal())).abs().max().item<double>(), 1e-10);
  EXPECT_LT(means.narrow(1, 5, 5).abs().max().item<double>(), 1e-10);  // classes do not differ in what remains
}

TEST(PldaSpace, GivesTheSameAnswersForScaledAndRotatedFeatures) {
  const Labelled data = images(6, 20, 8);
  at::manual_seed(9);
  const at::Tensor turn = std::get<0>(at::linalg_qr(at::randn({8, 8}, at::kDouble)));
  const Labelled moved{3.5 * at::matmul(data.features, turn), data.labels};
  const auto answers = [](const Labelled& x) {
    PldaSpace space = fitter_of(x).space(0.2);
    space.between = space.between + 0.1;
    const at::Tensor f = space.transform(x.features);
    const at::Tensor support = f.index_select(0, at::arange(0, 120, 20));
    return log_predictive(class_mean_posterior(no_knowledge(space.between, {6}), at::ones({6}, at::kDouble), support),
                          f);
  };
  EXPECT_LT(error_of(answers(moved), answers(data)), 1e-9);
}

TEST(PldaSpace, DoesNotDependOnTheOrderOfTheImages) {
  const Labelled data = images(4, 10, 6);
  const at::Tensor order = at::randperm(40, at::kLong);
  const Labelled shuffled{data.features.index_select(0, order), data.labels.index_select(0, order)};
  EXPECT_LT(error_of(fitter_of(shuffled).space(0.1).between, fitter_of(data).space(0.1).between), 1e-10);
}

TEST(PldaSpace, IsDefinedForMoreDimensionsThanImagesAndForConstantOnes) {
  Labelled data = images(3, 4, 40);
  data.features.narrow(1, 0, 5).fill_(2.0);
  const PldaSpace space = fitter_of(data).space(0.1);
  const at::Tensor f = space.transform(data.features.to(at::kFloat));
  EXPECT_EQ(f.scalar_type(), at::kFloat);
  EXPECT_EQ(f.sizes(), (std::vector<int64_t>{12, 40}));
  EXPECT_TRUE(f.isfinite().all().item<bool>());
  EXPECT_EQ(space.leading, 2);
}

TEST(PldaSpace, JoinsTheMomentsOfTwoSetsOfClasses) {
  const Labelled data = images(4, 10, 6);
  const at::Tensor center = data.features.mean(0);
  const auto part = [&](int64_t from) {
    return unit_moments(data.features.narrow(0, from, 20), data.labels.narrow(0, from, 20), center);
  };
  const UnitMoments joined = join(part(0), part(20));
  const UnitMoments whole = unit_moments(data.features, data.labels, center);
  EXPECT_TRUE(joined.classes.equal(whole.classes));
  EXPECT_LT(error_of(joined.mean, whole.mean), 1e-12);
  EXPECT_LT(error_of(joined.scatter, whole.scatter), 1e-12);
}

TEST(PldaSpace, RefusesWhatTellsNothingAboutClasses) {
  const Labelled data = images(4, 1, 6);
  EXPECT_THROW(fitter_of(data), Error);  // one image per class
  EXPECT_THROW(fitter_of({data.features, at::zeros({4}, at::kLong)}), Error);
  EXPECT_THROW((void)fitter_of(images(4, 3, 6)).space(0), UsageError);
  Labelled broken = images(4, 3, 6);
  broken.features[2][3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(fitter_of(broken), Error);
}

TEST(PldaCalibration, FindsAPowerLawAgain) {
  HeldOutVariance evidence;
  evidence.predictor = at::tensor({8.0, 4.0, 2.0, 1.0, 0.0}, at::kDouble);
  evidence.leading = 4;
  const at::Tensor observed =
      at::cat({0.6 * evidence.predictor.narrow(0, 0, 4).pow(0.75), at::full({1}, 0.02, at::kDouble)});
  const VarianceLaw law = fit_variance_law(observed, evidence);
  EXPECT_DOUBLE_EQ(law.power, 0.75);
  EXPECT_NEAR(law.scale, 0.6, 1e-12);
  EXPECT_NEAR(law.floor, 0.02, 1e-12);
  EXPECT_LT(error_of(law.values(evidence.predictor, 4), observed), 1e-12);
}

TEST(PldaCalibration, MeasuresHeldOutClassesAsTheirTransformedImagesShowThem) {
  const Labelled data = images(8, 30, 6);
  const PldaSpaceFitter fitter = fitter_of({data.features.narrow(0, 0, 120), data.labels.narrow(0, 0, 120)});
  const PldaSpace space = fitter.space(0.1);
  const at::Tensor rest = data.features.narrow(0, 120, 120);
  const UnitMoments moments = unit_moments(rest, data.labels.narrow(0, 120, 120), space.center);
  const HeldOutVariance seen = held_out_variance(space, moments, {});
  const at::Tensor f = space.transform(rest).view({4, 30, 6});
  EXPECT_LT(error_of(seen.within, f.var(1, true).mean(0)), 1e-10);
  const at::Tensor means = f.mean(1);
  EXPECT_LT(error_of(seen.between, means.square().mean(0) - seen.within / 30), 1e-10);
  const at::Tensor predicted = 0.5 * means;
  EXPECT_LT(error_of(held_out_variance(space, moments, predicted).residual,
                     (means - predicted).square().mean(0) - seen.within / 30),
            1e-10);
}

TEST(PldaCalibration, KnowsAsMuchOfAClassWithoutDescriptionAsOfOneThatADescriptionTellsNothingOf) {
  Labelled data = images(8, 30, 6);
  data.features.narrow(0, 120, 120) += 2;  // other classes lie elsewhere than those that the space was fitted on
  const PldaSpace space = fitter_of({data.features.narrow(0, 0, 120), data.labels.narrow(0, 0, 120)}).space(0.1);
  const UnitMoments moments =
      unit_moments(data.features.narrow(0, 120, 120), data.labels.narrow(0, 120, 120), space.center);
  const HeldOutVariance seen = held_out_variance(space, moments, at::zeros({4, 6}, at::kDouble));
  EXPECT_LT(error_of(seen.residual, seen.between), 1e-12);
}

TEST(PldaCalibration, ScalesALeadingDimensionToVarianceOneWithinHeldOutClasses) {
  const Labelled data = images(8, 30, 6);
  const PldaSpace space = fitter_of({data.features.narrow(0, 0, 120), data.labels.narrow(0, 0, 120)}).space(0.1);
  const UnitMoments held_out =
      unit_moments(data.features.narrow(0, 120, 120), data.labels.narrow(0, 120, 120), space.center);
  const PldaCalibration calibration = calibrate(held_out_variance(space, held_out, {}));
  const at::Tensor within = held_out_variance(calibrated(space, calibration), held_out, {}).within;
  EXPECT_NEAR(within.max().item<double>(), 1.0, 1e-10);
  EXPECT_EQ(residual_variance(space, calibration).sizes(), space.between.sizes());
}

double strength(const std::vector<std::vector<double>>& predicted, const std::vector<std::vector<double>>& means) {
  return strength_of_knowledge(testing::matrix(predicted), testing::matrix(means));
}

TEST(StrengthOfKnowledge, IsTheLeastSquaresFactorOfThePredictionInTheUnitInterval) {
  EXPECT_NEAR(strength({{1, 0}, {1, 0}}, {{0.6, 3}, {0.2, -7}}), 0.4, 1e-12);
  EXPECT_NEAR(strength({{2, 4}, {-6, 0}}, {{1, 2}, {-3, 0}}), 0.5, 1e-12) << "twice too long";
  EXPECT_DOUBLE_EQ(strength({{1, 0}, {0, 1}}, {{3, 5}, {5, 3}}), 1) << "three times too short";
}

TEST(StrengthOfKnowledge, IsNoneWhereThePredictionMisleadsTellsNothingOrIsNone) {
  EXPECT_EQ(strength({{-1, -2}, {3, 0}}, {{1, 2}, {-3, 0}}), 0);
  EXPECT_EQ(strength({{0, 1}, {1, 0}}, {{1, 0}, {0, 1}}), 0);
  EXPECT_EQ(strength({{0, 0}, {0, 0}}, {{1, 0}, {0, 1}}), 0);
}

}  // namespace
}  // namespace protocom
