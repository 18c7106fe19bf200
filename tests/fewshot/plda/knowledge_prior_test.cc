#include "fewshot/plda/knowledge_prior.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "fewshot/method.h"
#include "support/golden.h"
#include "support/matrices.h"
#include "support/message_of.h"

namespace protocom {
namespace {

using testing::error_of;
using testing::message_of;
using testing::usage_message_of;

constexpr int64_t kSeenDims = 10;  // dimensions in which classes differ
constexpr int64_t kAllDims = 14;

/// Returns class means that follow from attributes, which follow from their words; `classes` of them, in whitened
/// dimensions.
PriorExamples made_examples(int64_t classes) {
  at::manual_seed(33);
  const at::Tensor words = at::randn({12, 6});
  const at::Tensor attribute_mean = 3 * at::matmul(words, at::randn({6, kSeenDims}));
  PriorExamples made;
  made.leading = kSeenDims;
  made.descriptions.association = array_of(at::rand({classes, 12}).gt(0.6).to(at::kFloat));
  tensor_of(made.descriptions.association).select(1, 0).fill_(1);  // no class without an attribute
  const at::Tensor share =
      tensor_of(made.descriptions.association) / tensor_of(made.descriptions.association).sum(1, true);
  made.descriptions.class_embedding = array_of(at::matmul(share, words));
  const at::Tensor signal = at::matmul(share, attribute_mean);
  made.means = DoubleMatrix::Zero(classes, kAllDims);
  made.means.leftCols(kSeenDims) = matrix_of(signal - signal.mean(0) + 0.1 * at::randn({classes, kSeenDims}));
  return made;
}

PriorExamples first_of(const PriorExamples& all, int64_t classes) { return all.rows(labels_of(at::arange(classes))); }

/// Returns options with the fewest groups for leaving classes out: some priors are trained for each.
PriorOptions two_groups() {
  PriorOptions options;
  options.groups = 2;
  return options;
}

MethodState state_with(const KnowledgePrior& prior, int64_t attributes) {
  MethodState state;
  for (int64_t a = 0; a < attributes; ++a) state.attributes.push_back(std::to_string(a));
  prior.add_to(state);
  return state;
}

TEST(KnowledgePrior, KernelRidgeIsTheRegressionAndItsClosedForm) {
  const PriorExamples examples = made_examples(30);
  const PriorChoice choice = choose_prior("kernel-ridge", examples);
  const auto best = try_kernel_ridges(examples.descriptions, examples.means).front();
  EXPECT_EQ(choice.trials.front().error, best.error);
  EXPECT_EQ(choice.trials.size(), 25U);
  const KernelRidge plain = fit_kernel_ridge(examples.descriptions, examples.means, best.options);
  EXPECT_EQ(choice.fit(examples)->predict(examples.descriptions), plain.predict(examples.descriptions));
  EXPECT_EQ(choice.left_out, leave_one_out(examples.descriptions, examples.means, best.options));
}

TEST(KnowledgePrior, RefusesWhatTheKnowledgeCannotGive) {
  PriorExamples examples = made_examples(12);
  EXPECT_THAT(usage_message_of([&] { choose_prior("oracle", examples); }), ::testing::HasSubstr("kernel-ridge"));
  examples.descriptions = {};
  EXPECT_THAT(usage_message_of([&] { choose_prior("sem-align", examples); }),
              ::testing::HasSubstr("needs attributes or word vectors of classes"));
}

class EveryPrior : public ::testing::TestWithParam<std::string> {
 protected:
  /// Returns a prior fitted once for all tests.
  const KnowledgePrior& prior() const {
    static std::map<std::string, std::shared_ptr<const KnowledgePrior>> fitted;
    auto& one = fitted[GetParam()];
    if (!one) one = choose_prior(GetParam(), examples_, two_groups()).fit(examples_);
    return *one;
  }

  const PriorExamples examples_ = made_examples(20);
};

TEST_P(EveryPrior, ComesBackFromItsTensorsAsItWas) {
  const MethodState state = state_with(prior(), 12);
  const auto back = load_prior(state, choose_prior("kernel-ridge", examples_).ridge, kAllDims);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->name(), GetParam());
  EXPECT_EQ(back->predict(examples_.descriptions), prior().predict(examples_.descriptions));
  EXPECT_NE(message_of([&] { load_prior(state, {}, kSeenDims - 1); }), "(no Error)");
}

TEST_P(EveryPrior, PredictionsScaleWithTheUnitAndAreZeroWhereClassesDoNotDiffer) {
  const DoubleMatrix plain = prior().predict(examples_.descriptions);
  EXPECT_EQ(plain.rows(), examples_.means.rows());
  EXPECT_EQ(plain.cols(), examples_.means.cols());
  EXPECT_LT(plain.rightCols(kAllDims - kSeenDims).cwiseAbs().maxCoeff(), 1e-12);
  const DoubleVector factor = DoubleVector::LinSpaced(kAllDims, 0.5, 2);
  EXPECT_LT(error_of(protocom::tensor_of(prior().scaled(factor)->predict(examples_.descriptions)),
                     protocom::tensor_of(DoubleMatrix(plain * factor.asDiagonal()))),
            testing::kDoubleBound);
}

TEST_P(EveryPrior, RefusesDescriptionsOfAnotherVocabulary) {
  const KnowledgeTable others = unnamed_table(array_of(at::ones({1, 5})), array_of(at::ones({1, 2})));
  EXPECT_THAT(message_of([&] { (void)prior().predict(others); }), ::testing::HasSubstr("use the same knowledge"));
}

TEST_P(EveryPrior, PredictsNewClassesFromTrueDescriptionsAndHardlyFromShuffledOnes) {
  const PriorExamples all = made_examples(60);
  PriorExamples base = first_of(all, 40);
  const PriorChoice told = choose_prior(GetParam(), base, two_groups());
  EXPECT_LT(told.trials.front().error, 0.9);
  const PriorExamples fresh = all.rows(labels_of(at::arange(40, 60)));
  const DoubleMatrix miss = told.fit(base)->predict(fresh.descriptions) - fresh.means;
  EXPECT_LT(miss.squaredNorm() / fresh.means.squaredNorm(), 0.9);
  at::manual_seed(5);
  base.descriptions = base.descriptions.rows(numbers_of(at::randperm(40, at::kLong)));
  EXPECT_GT(choose_prior(GetParam(), base, two_groups()).trials.front().error, 0.95);
}

TEST_P(EveryPrior, PredictionOfAHeldOutClassIsIndependentOfItsMean) {
  PriorExamples examples = made_examples(20);
  KernelRidgeOptions ridge;
  const auto left_out = [&] {
    return GetParam() == "kernel-ridge" ? leave_one_out(examples.descriptions, examples.means, ridge)
                                        : choose_prior(GetParam(), examples, two_groups()).left_out;
  };
  const at::Tensor before = protocom::tensor_of(left_out());
  examples.means.row(3).head(kSeenDims).array() += 5;
  const at::Tensor after = protocom::tensor_of(left_out());
  EXPECT_LT(error_of(after[3], before[3]), testing::kDoubleBound);
  EXPECT_GT((after - before).abs().max().item<double>(), 1e-3);
}

std::string word_of(const ::testing::TestParamInfo<std::string>& one) {
  std::string name = one.param;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, EveryPrior, ::testing::ValuesIn(prior_names()), word_of);

}  // namespace
}  // namespace protocom
