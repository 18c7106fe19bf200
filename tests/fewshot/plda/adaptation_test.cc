#include "fewshot/plda/detail/adaptation.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "fewshot/methods.h"
#include "fewshot/plda/detail/class_rows.h"
#include "fewshot/plda/detail/scatter.h"
#include "fewshot/plda/detail/state.h"
#include "fewshot/plda/fit.h"
#include "support/golden.h"
#include "support/matrices.h"
#include "support/scorer.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::golden;
using ::testing::HasSubstr;
using testing::moments_of;
using testing::tensor_of;
using testing::transformed;

struct AdaptationImages {
  at::Tensor features;  // float64 [m, d]
  at::Tensor labels;
};

AdaptationImages adaptation_images(int64_t classes, int64_t each, int64_t d, uint64_t seed = 3) {
  at::manual_seed(seed);
  const at::Tensor labels = at::arange(classes, at::kLong).repeat_interleave(each);
  const at::Tensor stretch = at::rand({d}, at::kDouble) + 0.2;
  const at::Tensor means = at::randn({classes, d}, at::kDouble);
  return {means.index_select(0, labels) + stretch * at::randn({classes * each, d}, at::kDouble), labels};
}

PldaModel model_of(const AdaptationImages& base) {
  PldaModel model;
  model.space = PldaSpaceFitter(moments_of(base.features, base.labels)).space(0.1);
  model.space.between.array() += 0.1;
  model.residual = model.space.between;
  return model;
}

PldaModel adapted_to(const PldaModel& model, const AdaptationImages& images, int64_t classes) {
  return adapted(model, matrix_of(images.features), labels_of(images.labels), classes);
}

EpisodeBatch episode_of_images(const at::Tensor& features, int64_t classes, int64_t each, int64_t shots) {
  const at::Tensor all = features.to(at::kFloat).view({classes, each, features.size(1)});
  EpisodeBatch batch;
  batch.support = all.narrow(1, 0, shots).unsqueeze(0).contiguous();
  batch.query = all.narrow(1, shots, each - shots).reshape({1, classes * (each - shots), features.size(1)});
  return batch;
}

at::Tensor probabilities_of(const std::string& method, const EpisodeBatch& batch) {
  return testing::scores_of(*make_method(method), {}, batch).logits.softmax(-1).to(at::kDouble);
}

TEST(PldaAdaptation, LowRankWhiteningIsTheDenseRootAndKeepsTheDiagonalOfTheOtherCovariance) {
  for (const int64_t each : {3, 40}) {  // fewer and more images than dimensions
    const AdaptationImages data = adaptation_images(4, each, 12);
    const DoubleMatrix within = within_rows({matrix_of(data.features), labels_of(data.labels), 4});
    const Scatter scatter = scatter_of(within, 4 * static_cast<double>(each - 1));
    const LowRankWhitening whitening = whitening_of(scatter, 30, 2);
    at::Tensor dense = 30 * at::eye(12, at::kDouble);
    for (int64_t c = 0; c < 4; ++c) {
      const at::Tensor x = data.features.narrow(0, c * each, each);
      const at::Tensor a = x - x.mean(0);
      dense = dense + at::mm(a.t(), a);
    }
    const auto [values, vectors] = at::linalg_eigh(2 * dense / (30.0 + 4.0 * static_cast<double>(each - 1)));
    const at::Tensor root = at::mm(vectors / values.sqrt(), vectors.t());
    const at::Tensor whitened = protocom::tensor_of(whitening.apply(matrix_of(data.features)));
    EXPECT_LT(error_of(whitened, at::mm(data.features, root)), 1e-9);
    const at::Tensor variance = at::rand({12}, at::kDouble) + 0.1;
    const at::Tensor full = at::mm(at::mm(root, at::diag(variance)), root);
    EXPECT_LT(error_of(protocom::tensor_of(whitening.variance(vector_of(variance))), full.diagonal()), 1e-9);
  }
}

TEST(PldaAdaptation, EndlessTrustInTheFittedSpaceLeavesItAsItIsToTheBit) {
  PldaModel model = model_of(adaptation_images(8, 20, 10));
  model.adaptation = {1e300, 1e300, 1e300, false};
  const AdaptationImages own = adaptation_images(3, 4, 10, 9);
  const PldaModel after = adapted_to(model, own, 3);
  EXPECT_EQ(after.space.center, model.space.center);
  EXPECT_EQ(after.space.projection, model.space.projection);
  EXPECT_EQ(after.space.offset, model.space.offset);
  EXPECT_EQ(after.space.between, model.space.between);
}

TEST(PldaAdaptation, ManyImagesWhitenTheirOwnCovariance) {
  PldaModel model = model_of(adaptation_images(8, 20, 10));
  model.adaptation = {10, 10, 0, false};
  const AdaptationImages own = adaptation_images(5, 4000, 10, 9);
  const PldaModel after = adapted_to(model, own, 5);
  const at::Tensor f = transformed(after.space, own.features).view({5, 4000, 10});
  const at::Tensor a = (f - f.mean(1, true)).view({-1, 10});
  EXPECT_LT(error_of(at::mm(a.t(), a) / 19995, at::eye(10, at::kDouble)), 0.01);
}

EpisodeBatch golden_episode(const nlohmann::json& data) {
  EpisodeBatch batch;
  const int64_t dims = tensor_of(data.at("query")).size(1);
  batch.support = at::zeros({1, 3, 7, dims});
  batch.support_mask = at::zeros({1, 3, 7});
  for (int64_t c = 0; c < 3; ++c) {
    const at::Tensor images = tensor_of(data.at("support")[static_cast<size_t>(c)]);
    batch.support[0][c].narrow(0, 0, images.size(0)).copy_(images);
    batch.support_mask[0][c].narrow(0, 0, images.size(0)).fill_(1);
  }
  batch.query = tensor_of(data.at("query")).to(at::kFloat).unsqueeze(0);
  return batch;
}

/// Compares answers of "plda" with `parameters`, unscaled and with the scale found by leaving images out.
void expect_golden(const char* kind, const std::string& parameters) {
  const auto data = golden(kind, "plda_adaptation.json");
  const EpisodeBatch batch = golden_episode(data);
  const at::Tensor logits = testing::scores_of(*make_method("plda:scale=1" + parameters), {}, batch).logits[0];
  const at::Tensor expected = tensor_of(data.at("log_ratio"));
  EXPECT_LT(error_of(logits - logits.narrow(1, 0, 1), expected), 2e-5) << kind;
  const at::Tensor scaled = testing::scores_of(*make_method("plda" + parameters), {}, batch).logits[0];
  EXPECT_LT(error_of(scaled - scaled.narrow(1, 0, 1), data.at("scale").get<double>() * expected), 2e-5) << kind;
}

TEST(PldaAdaptation, WithoutASpaceTheAnswersAreThoseOfFullCovariances) {
  for (const char* kind : {"isotropic", "roots", "one image each", "one image each in 24 dimensions", "two images each",
                           "three images each", "images that differ along one axis"})
    expect_golden(kind, "");
  EXPECT_LT(golden("images that differ along one axis", "plda_adaptation.json").at("nu"), 10);
}

TEST(PldaAdaptation, WhatIsAskedForTakesThePlaceOfWhatImagesChoose) {
  expect_golden("as requested", ":nu=25:class_means=0");
  expect_golden("images that differ along one axis", ":nu=3");
  EXPECT_THROW(make_method("plda:class_means=2"), Error);
  EXPECT_THROW(make_method("plda:nu=-1"), Error);
}

TEST(PldaAdaptation, ClassMeansThatCountNothingTellClassesApartWithFewerImagesThanDimensionsToo) {
  const EpisodeBatch batch = episode_of_images(adaptation_images(4, 8, 40).features, 4, 8, 3);
  const at::Tensor none = probabilities_of("plda:nu=80:class_means=0", batch);
  EXPECT_LT(error_of(none, probabilities_of("plda:nu=80:class_means=0.0001", batch)), 0.01);
}

TEST(PldaAdaptation, DegreesThatAreAskedForAreThoseOfAFittedSpaceToo) {
  PldaModel model = model_of(adaptation_images(8, 20, 10));
  model.adaptation = {50, 50, 5, false};
  const AdaptationImages own = adaptation_images(3, 4, 10, 9);
  PldaModel asked = model;
  asked.adaptation.fixed_degrees = 7;
  EXPECT_EQ(adapted_to(asked, own, 3).vb.degrees, 7 + 9);  // and those of the images
  EXPECT_NE(adapted_to(model, own, 3).vb.degrees, 7 + 9);
}

TEST(PldaAdaptation, NonNegativeFeaturesAreSquareRootedInAFittedSpaceToo) {
  const AdaptationImages base = adaptation_images(12, 20, 10);
  const at::Tensor positive = base.features.square();
  const auto fitted = [&](const at::Tensor& features) {
    return fit_plda({array_of(features.to(at::kFloat)), labels_of(base.labels), {}, {}, {}}).model;
  };
  const PldaModel squares = fitted(positive);
  EXPECT_TRUE(squares.space.root);
  EXPECT_FALSE(fitted(base.features).space.root);
  EXPECT_LT(error_of(protocom::tensor_of(squares.space.center), base.features.abs().mean(0)), 1e-6);
  const PldaModel again = plda_model_of(state_of(squares, {}));
  EXPECT_EQ(again.space.transform(matrix_of(positive)), squares.space.transform(matrix_of(positive)));
}

TEST(PldaAdaptation, WithOneImagePerClassTheAxisAlongWhichClassMeansDifferMostCountsLess) {
  at::manual_seed(5);
  at::Tensor features = at::randn({20, 30}, at::kDouble);
  features.select(1, 7).mul_(6);
  PldaModel model;
  model.adaptation = {300, 0, 20, true};
  const PldaSpace space = adapted_to(model, {features, at::arange(20)}, 20).space;
  const at::Tensor length = protocom::tensor_of(space.projection).square().sum(1);  // of each feature
  EXPECT_EQ(length.argmin().item<int64_t>(), 7);
  EXPECT_LT(length[7].item<double>(), 0.6 * length.median().item<double>());
}

TEST(PldaAdaptation, WithoutASpaceRotatedOrScaledFeaturesHaveTheSameAnswers) {
  const AdaptationImages data = adaptation_images(4, 8, 10);
  const at::Tensor rotation = std::get<0>(at::linalg_qr(at::randn({10, 10}, at::kDouble)));
  for (const int64_t shots : {1, 3}) {
    for (const char* method : {"plda", "plda-vb"}) {
      const at::Tensor before = probabilities_of(method, episode_of_images(data.features, 4, 8, shots));
      const at::Tensor after =
          probabilities_of(method, episode_of_images(7 * at::mm(data.features, rotation), 4, 8, shots));
      EXPECT_LT(error_of(after, before), 1e-4) << method << ", " << shots;
    }
  }
}

TEST(PldaAdaptation, ProbabilitiesAreAsSureAsAnswersAreRight) {
  for (const int64_t shots : {3, 5, 10}) {
    double sure = 0, right = 0;
    constexpr int kTasks = 20;
    constexpr int64_t kDrawn = 6, kQueries = 30, kDims = 60;
    for (int task = 0; task < kTasks; ++task) {
      AdaptationImages data = adaptation_images(kDrawn, shots + kQueries, kDims, 100 + task);
      const at::Tensor noise = at::randn_like(data.features) * 1.5;  // about half to nine tenths are right
      const at::Tensor answer =
          probabilities_of("plda", episode_of_images(data.features + noise, kDrawn, shots + kQueries, shots))[0];
      const at::Tensor labels = at::arange(kDrawn, at::kLong).repeat_interleave(kQueries);
      const auto [probability, choice] = answer.max(1);
      sure += probability.mean().item<double>() / kTasks;
      right += choice.eq(labels).to(at::kDouble).mean().item<double>() / kTasks;
    }
    EXPECT_GT(right, 0.5) << shots;
    EXPECT_LT(right, 0.99) << shots;
    EXPECT_NEAR(sure, right, 0.06) << shots;
  }
}

TEST(PldaAdaptation, ABatchCountsAsMuchAsItsLabelledImagesLetIt) {
  PldaModel unfitted;
  unfitted.space.leading = 1;
  unfitted.adaptation.degrees = 1000;
  unfitted.adaptation.isotropic = true;
  for (const int64_t each : {1, 5, 10}) {
    const AdaptationImages data = adaptation_images(4, each, 12);
    const PldaModel made = adapted_to(unfitted, data, 4);
    const auto images = static_cast<double>(each);
    EXPECT_NEAR(made.transductive_scale.five / made.inductive_scale.five, 0.6 * images / (images + 0.8), 1e-12);
    EXPECT_EQ(made.transductive_scale.none, made.transductive_scale.five);
  }
}

TEST(PldaAdaptation, CopiesOfAnImageSayNothingMoreOfTheSpace) {
  PldaModel model = model_of(adaptation_images(8, 20, 10));
  model.adaptation = {50, 50, 5, false};
  const AdaptationImages own = adaptation_images(3, 4, 10, 9);
  const PldaModel once = adapted_to(model, own, 3);
  const PldaModel twice =
      adapted_to(model, {at::cat({own.features, own.features}), at::cat({own.labels, own.labels})}, 3);
  EXPECT_LT(error_of(protocom::tensor_of(twice.space.projection), protocom::tensor_of(once.space.projection)), 1e-9);
  EXPECT_LT(error_of(protocom::tensor_of(twice.space.between), protocom::tensor_of(once.space.between)), 1e-9);
}

TEST(PldaAdaptation, AnImageThatIsNotFiniteIsRefused) {
  PldaModel model = model_of(adaptation_images(8, 20, 10));
  model.adaptation = {50, 50, 5, false};
  AdaptationImages own = adaptation_images(3, 4, 10, 9);
  own.features[2][3] = std::numeric_limits<double>::infinity();
  try {
    adapted_to(model, own, 3);
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("not finite"));
  }
}

TEST(PldaAdaptation, OneImagePerClassIsAsSureAsScoresForOtherClassesLieApart) {
  PldaModel usual = model_of(adaptation_images(8, 20, 10));
  usual.adaptation = {50, 50, 5, false};
  PldaModel wide = usual;  // images of the present classes vary three times as much as those of the fit
  wide.space.projection *= 3;
  wide.space.offset *= 3;
  const AdaptationImages own = adaptation_images(8, 1, 10, 9);
  const double scale = adapted_to(usual, own, 8).inductive_scale.one;
  const double of_wide = adapted_to(wide, own, 8).inductive_scale.one;
  EXPECT_LT(of_wide, scale / 3);
  const AdaptationImages turned{own.features.flip(0), own.labels.flip(0)};
  EXPECT_NEAR(adapted_to(usual, turned, 8).inductive_scale.one, scale, 1e-9 * scale) << "the order of images";
  const AdaptationImages two = adaptation_images(2, 1, 10, 9);
  EXPECT_GT(adapted_to(usual, two, 2).inductive_scale.one, 0) << "two classes tell no spread";
}

TEST(PldaAdaptation, WithoutASpaceTheScaleOfFewImagesFollowsTheSpreadOfScores) {
  at::manual_seed(4);
  PldaModel model;
  model.adaptation = {1000, 0, 20, true};
  model.adaptation.fixed_degrees = 800;  // the value chosen by leaving images out has a scale of its own
  // Scores are spread by the root of the number of dimensions that count: here 4 and 400 of 400.
  const at::Tensor few = at::cat({at::full({4}, 20.0, at::kDouble), at::ones({396}, at::kDouble)});
  for (const int64_t each : {1, 2}) {
    const at::Tensor labels = at::arange(20, at::kLong).repeat_interleave(each);
    const at::Tensor features =
        at::randn({20, 400}, at::kDouble).index_select(0, labels) + at::randn({20 * each, 400}, at::kDouble);
    const double narrow = adapted_to(model, {features * few, labels}, 20).inductive_scale.one;
    EXPECT_LT(narrow, 0.7 * adapted_to(model, {features, labels}, 20).inductive_scale.one) << each;
  }
}

TEST(PldaAdaptation, RecognizersAskAnAdaptedMethodWhatEpisodesAreAnswered) {
  const AdaptationImages data = adaptation_images(4, 8, 10);
  const EpisodeBatch batch = episode_of_images(data.features, 4, 8, 3);
  const auto method = make_method("plda");
  const FloatMatrix images = float_matrix_of(batch.support);
  const std::vector<int64_t> labels = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
  const auto own = method->adapted(images, labels, 4).method;
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->adapted(images, labels, 4).method, nullptr);
  EXPECT_THAT(own->findings(),
              ElementsAre(HasSubstr("class means counted 0.4 times, features as they are, centred by 17 %")));
  const auto asked = make_method("plda:nu=30:class_means=0")->adapted(images, labels, 4).method;
  EXPECT_THAT(asked->findings(), ElementsAre(HasSubstr("nu 30, class means counted 0 times")));
  EXPECT_LT(error_of(testing::scores_of(*own, {}, batch).logits.to(at::kDouble),
                     testing::scores_of(*method, {}, batch).logits.to(at::kDouble)),
            1e-5);
}

}  // namespace
}  // namespace protocom
