#include "fewshot/plda/space.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "fewshot/plda/variance_laws.h"
#include "support/golden.h"
#include "support/matrices.h"
#include "support/plda_reference.h"

namespace protocom {
namespace {

using testing::error_of;
using testing::log_predictive;
using testing::moments_of;
using testing::nothing_known;
using testing::posterior_of;
using testing::transformed;

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

PldaSpaceFitter fitter_of(const Labelled& data) { return PldaSpaceFitter(moments_of(data.features, data.labels)); }

TEST(PldaSpace, WhitensTheShrunkCovarianceWithinClassesAndTurnsToThatBetween) {
  const Labelled data = images(6, 40, 10);
  const PldaSpaceFitter fitter = fitter_of(data);
  const PldaSpace space = fitter.space(0.1);
  const at::Tensor f = transformed(space, data.features).view({6, 40, 10});
  const at::Tensor z = (data.features - data.features.mean(0));
  const at::Tensor unit = (z / z.norm(2, 1, true)).view({6, 40, 10});
  const at::Tensor deviation = (unit - unit.mean(1, true)).reshape({240, 10});
  const at::Tensor within = at::matmul(deviation.t(), deviation) / 234;
  const at::Tensor shrunk = 0.9 * within + 0.1 * within.trace() / 10 * at::eye(10, at::kDouble);
  const at::Tensor p = protocom::tensor_of(space.projection), variances = protocom::tensor_of(space.between);
  EXPECT_LT(error_of(at::matmul(p.t(), at::matmul(shrunk, p)), at::eye(10, at::kDouble)), 1e-10);
  const at::Tensor means = f.mean(1);
  const at::Tensor between = at::matmul(means.t(), means) / 5 - at::eye(10, at::kDouble) / 40;
  EXPECT_EQ(space.leading, 5);
  EXPECT_LT(means.mean(0).abs().max().item<double>(), 1e-10);
  EXPECT_LT(error_of(between.narrow(0, 0, 5).narrow(1, 0, 5).diagonal(), variances.narrow(0, 0, 5)), 1e-10);
  EXPECT_LT((between - at::diag(between.diagonal())).abs().max().item<double>(), 1e-10);
  EXPECT_LT(means.narrow(1, 5, 5).abs().max().item<double>(), 1e-10);  // classes do not differ in the rest
}

TEST(PldaSpace, GivesTheSameAnswersForScaledAndRotatedFeatures) {
  const Labelled data = images(6, 20, 8);
  at::manual_seed(9);
  const at::Tensor turn = std::get<0>(at::linalg_qr(at::randn({8, 8}, at::kDouble)));
  const Labelled moved{3.5 * at::matmul(data.features, turn), data.labels};
  const auto answers = [](const Labelled& x) {
    PldaSpace space = fitter_of(x).space(0.2);
    space.between.array() += 0.1;
    const at::Tensor f = transformed(space, x.features), between = protocom::tensor_of(space.between);
    const at::Tensor support = f.index_select(0, at::arange(0, 120, 20));
    return log_predictive(posterior_of(nothing_known(between, 6), at::ones({6}, at::kDouble), support), f);
  };
  EXPECT_LT(error_of(answers(moved), answers(data)), 1e-9);
}

TEST(PldaSpace, DoesNotDependOnTheOrderOfTheImages) {
  const Labelled data = images(4, 10, 6);
  const at::Tensor order = at::randperm(40, at::kLong);
  const Labelled shuffled{data.features.index_select(0, order), data.labels.index_select(0, order)};
  const DoubleVector found = fitter_of(shuffled).space(0.1).between, expected = fitter_of(data).space(0.1).between;
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-10 * std::max(1.0, expected.maxCoeff()));
}

TEST(PldaSpace, IsDefinedForMoreDimensionsThanImagesAndForConstantOnes) {
  Labelled data = images(3, 4, 40);
  data.features.narrow(1, 0, 5).fill_(2.0);
  const PldaSpace space = fitter_of(data).space(0.1);
  const DoubleMatrix f = space.transform(matrix_of(data.features));
  EXPECT_EQ(f.rows(), 12);
  EXPECT_EQ(f.cols(), 40);
  EXPECT_TRUE(f.allFinite());
  EXPECT_EQ(space.leading, 2);
}

TEST(PldaSpace, JoinsTheMomentsOfTwoSetsOfClasses) {
  const Labelled data = images(4, 10, 6);
  const DoubleVector center = vector_of(data.features.mean(0));
  const auto part = [&](int64_t from) {
    return moments_of(data.features.narrow(0, from, 20), data.labels.narrow(0, from, 20), center);
  };
  const UnitMoments joined = join(part(0), part(20));
  const UnitMoments whole = moments_of(data.features, data.labels, center);
  EXPECT_EQ(joined.classes, whole.classes);
  EXPECT_LT((joined.mean - whole.mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((joined.scatter - whole.scatter).cwiseAbs().maxCoeff(), 1e-12 * whole.scatter.maxCoeff());
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

TEST(VarianceLaws, FindsAPowerLawAgain) {
  HeldOutVariance evidence;
  evidence.predictor = (DoubleVector(5) << 8, 4, 2, 1, 0).finished();
  evidence.leading = 4;
  DoubleVector observed = 0.6 * evidence.predictor.array().pow(0.75);
  observed[4] = 0.02;
  const VarianceLaw law = fit_variance_law(observed, evidence);
  EXPECT_DOUBLE_EQ(law.power, 0.75);
  EXPECT_NEAR(law.scale, 0.6, 1e-12);
  EXPECT_NEAR(law.floor, 0.02, 1e-12);
  EXPECT_LT((law.values(evidence.predictor, 4) - observed).cwiseAbs().maxCoeff(), 1e-12 * observed.maxCoeff());
}

TEST(VarianceLaws, MeasuresHeldOutClassesAsTheirTransformedImagesShowThem) {
  const Labelled data = images(8, 30, 6);
  const PldaSpaceFitter fitter = fitter_of({data.features.narrow(0, 0, 120), data.labels.narrow(0, 0, 120)});
  const PldaSpace space = fitter.space(0.1);
  const at::Tensor rest = data.features.narrow(0, 120, 120);
  const UnitMoments moments = moments_of(rest, data.labels.narrow(0, 120, 120), space.center);
  const HeldOutVariance seen = held_out_variance(space, moments, {});
  const at::Tensor f = transformed(space, rest).view({4, 30, 6}), within = protocom::tensor_of(seen.within);
  EXPECT_LT(error_of(within, f.var(1, true).mean(0)), 1e-10);
  const at::Tensor means = f.mean(1);
  EXPECT_LT(error_of(protocom::tensor_of(seen.between), means.square().mean(0) - within / 30), 1e-10);
  const at::Tensor predicted = 0.5 * means;
  EXPECT_LT(error_of(protocom::tensor_of(held_out_variance(space, moments, matrix_of(predicted)).residual),
                     (means - predicted).square().mean(0) - within / 30),
            1e-10);
}

TEST(VarianceLaws, AnEmptyDescriptionLeavesTheVarianceBetweenClasses) {
  Labelled data = images(8, 30, 6);
  data.features.narrow(0, 120, 120) += 2;  // other classes lie elsewhere than those that the space was fitted on
  const PldaSpace space = fitter_of({data.features.narrow(0, 0, 120), data.labels.narrow(0, 0, 120)}).space(0.1);
  const UnitMoments moments =
      moments_of(data.features.narrow(0, 120, 120), data.labels.narrow(0, 120, 120), space.center);
  const HeldOutVariance seen = held_out_variance(space, moments, DoubleMatrix::Zero(4, 6));
  EXPECT_LT((seen.residual - seen.between).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(VarianceLaws, ScalesALeadingDimensionToVarianceOneWithinHeldOutClasses) {
  const Labelled data = images(8, 30, 6);
  const PldaSpace space = fitter_of({data.features.narrow(0, 0, 120), data.labels.narrow(0, 0, 120)}).space(0.1);
  const UnitMoments held_out =
      moments_of(data.features.narrow(0, 120, 120), data.labels.narrow(0, 120, 120), space.center);
  const VarianceLaws laws = fit_variance_laws(held_out_variance(space, held_out, {}));
  const DoubleVector within = held_out_variance(rescaled(space, laws), held_out, {}).within;
  EXPECT_NEAR(within.maxCoeff(), 1.0, 1e-10);
  EXPECT_EQ(residual_variance(space, laws).size(), space.between.size());
}

double strength(const std::vector<std::vector<double>>& predicted, const std::vector<std::vector<double>>& means) {
  return strength_of_knowledge(matrix_of(testing::matrix(predicted)), matrix_of(testing::matrix(means)));
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
