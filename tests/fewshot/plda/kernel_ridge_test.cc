#include "fewshot/plda/kernel_ridge.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "support/golden.h"
#include "support/matrices.h"

namespace protocom {
namespace {

using testing::error_of;
using testing::golden;
using testing::tensor_of;

KnowledgeTable descriptions_of(const nlohmann::json& data) {
  return unnamed_table(array_of(tensor_of(data.at("association"))), array_of(tensor_of(data.at("embedding"))));
}

KernelRidgeOptions options_of(const nlohmann::json& data) {
  KernelRidgeOptions options;
  options.attribute_weight = data.at("attribute_weight");
  options.word_weight = data.at("word_weight");
  options.ridge = data.at("ridge");
  return options;
}

TEST(KernelRidge, PredictsNewClassesAsTheFormulasDo) {
  const auto data = golden("ridge", "plda.json");
  const DoubleMatrix means = matrix_of(tensor_of(data.at("base").at("means")));
  const KernelRidge prior = fit_kernel_ridge(descriptions_of(data.at("base")), means, options_of(data));
  EXPECT_LT(
      error_of(protocom::tensor_of(prior.predict(descriptions_of(data.at("novel")))), tensor_of(data.at("predicted"))),
      testing::kDoubleBound);
}

TEST(KernelRidge, LeavesOneOutInClosedFormAsByFittingAnewWithoutTheClass) {
  const auto data = golden("ridge", "plda.json");
  const DoubleMatrix means = matrix_of(tensor_of(data.at("base").at("means")));
  const DoubleMatrix found = leave_one_out(descriptions_of(data.at("base")), means, options_of(data));
  EXPECT_LT(error_of(protocom::tensor_of(found), tensor_of(data.at("left_out"))), testing::kDoubleBound);
}

TEST(KernelRidge, PredictsNothingForAClassOfWhichNothingIsKnown) {
  const auto data = golden("ridge", "plda.json");
  const DoubleMatrix means = matrix_of(tensor_of(data.at("base").at("means")));
  const KernelRidge prior = fit_kernel_ridge(descriptions_of(data.at("base")), means, options_of(data));
  const DoubleMatrix predicted =
      prior.predict(unnamed_table(Array::zeros({1, prior.kernel.base().idf.size()}),
                                  Array::zeros({1, prior.kernel.base().embedding_center.size()})));
  EXPECT_TRUE(predicted.isZero(0));
}

TEST(KernelRidge, WorksWithAttributesAloneAndWithWordsAlone) {
  const auto data = golden("ridge", "plda.json");
  const DoubleMatrix means = matrix_of(tensor_of(data.at("base").at("means")));
  const KnowledgeTable both = descriptions_of(data.at("base"));
  KernelRidgeOptions attributes_only;
  attributes_only.word_weight = 0;
  const KernelRidge a = fit_kernel_ridge(unnamed_table(both.association, {}), means, {});
  const KernelRidge b = fit_kernel_ridge(both, means, attributes_only);
  EXPECT_LT((a.dual - b.dual).cwiseAbs().maxCoeff(), testing::kDoubleBound);
  const KnowledgeTable words_alone = unnamed_table({}, both.class_embedding);
  EXPECT_EQ(fit_kernel_ridge(words_alone, means, {}).predict(words_alone).rows(), means.rows());
}

TEST(KernelRidge, RefusesDescriptionsOfAnotherVocabulary) {
  const auto data = golden("ridge", "plda.json");
  const KernelRidge prior =
      fit_kernel_ridge(descriptions_of(data.at("base")), matrix_of(tensor_of(data.at("base").at("means"))), {});
  EXPECT_THROW(
      static_cast<void>(prior.predict(unnamed_table(array_of(at::zeros({1, 99})), array_of(at::zeros({1, 3}))))),
      Error);
  EXPECT_THROW(static_cast<void>(prior.predict({})), Error);
}

/// Returns embeddings of two sources; the second is the first in another order of the classes.
KnowledgeTable two_sources(const KnowledgeTable& one) {
  return unnamed_table(one.association,
                       array_of(at::cat({tensor_of(one.class_embedding), tensor_of(one.class_embedding).flip(0)}, 1)),
                       {one.embedding_dim(), one.embedding_dim()});
}

TEST(KernelRidge, EachSourceOfEmbeddingsHasItsOwnCosine) {
  const auto data = golden("ridge", "plda.json");
  const KnowledgeTable one = descriptions_of(data.at("base"));
  const auto alone = [](const at::Tensor& association, const at::Tensor& embedding) {
    KernelRidgeOptions options;
    options.word_weight = 1;
    const KnowledgeTable own = unnamed_table(array_of(association), array_of(embedding));
    return protocom::tensor_of(DescriptionKernel(own, options).likeness(own));
  };
  KernelRidgeOptions options;
  options.word_weight = 2;
  options.source_shares = {3, 1};
  const KnowledgeTable two = two_sources(one);
  const at::Tensor expected = (alone(tensor_of(one.association), {}) + 1.5 * alone({}, tensor_of(one.class_embedding)) +
                               0.5 * alone({}, tensor_of(one.class_embedding).flip(0))) /
                              3;
  EXPECT_LT(error_of(protocom::tensor_of(DescriptionKernel(two, options).likeness(two)), expected),
            testing::kDoubleBound);
  EXPECT_THROW(DescriptionKernel(two, {1, 2, 1, {1}}), UsageError);
  EXPECT_THROW(DescriptionKernel(two, {1, 2, 1, {1, -1}}), UsageError);
  EXPECT_THROW(DescriptionKernel(two, {1, 2, 1, {0, 0}}), UsageError);
}

TEST(KernelRidge, AClassThatOneSourceDoesNotKnowHasTheOthersAlone) {
  const auto data = golden("ridge", "plda.json");
  const KnowledgeTable one = descriptions_of(data.at("base"));
  KnowledgeTable two = two_sources(one);
  two.association = array_of(at::Tensor());
  const DescriptionKernel kernel(two, {0, 1, 1, {}});
  tensor_of(two.class_embedding).slice(1, tensor_of(one.class_embedding).size(1)).zero_();
  const KnowledgeTable first = unnamed_table({}, one.class_embedding);
  const DoubleMatrix alone = DescriptionKernel(first, {0, 1, 1, {}}).likeness(first);
  EXPECT_LT((kernel.likeness(two) - alone / 2).cwiseAbs().maxCoeff(), testing::kDoubleBound);
}

TEST(KernelRidge, AnUninformativeSourceGetsASmallWeight) {
  auto generator = at::detail::createCPUGenerator(5);
  const at::Tensor truth = at::randn({60, 6}, generator);
  const DoubleMatrix means = matrix_of(at::mm(truth, at::randn({6, 20}, generator)));
  const KnowledgeTable both = unnamed_table({}, array_of(at::cat({truth, at::randn({60, 40}, generator)}, 1)), {6, 40});
  const auto trials = try_kernel_ridges(both, means);
  const KernelRidgeOptions& best = trials.front().options;
  ASSERT_EQ(best.source_shares.size(), 2U);
  EXPECT_GT(best.source_shares[0], 4 * best.source_shares[1]);
  EXPECT_LE(trials.front().error, try_kernel_ridges(unnamed_table({}, array_of(truth)), means).front().error + 1e-12);
  for (size_t i = 1; i < trials.size(); ++i) EXPECT_LE(trials[i - 1].error, trials[i].error);
}

TEST(KernelRidge, TriesItsGridAndPutsTheLeastErrorFirst) {
  const auto data = golden("ridge", "plda.json");
  const auto trials =
      try_kernel_ridges(descriptions_of(data.at("base")), matrix_of(tensor_of(data.at("base").at("means"))));
  ASSERT_EQ(trials.size(), 25U);
  for (size_t i = 1; i < trials.size(); ++i) EXPECT_LE(trials[i - 1].error, trials[i].error);
}

}  // namespace
}  // namespace protocom
