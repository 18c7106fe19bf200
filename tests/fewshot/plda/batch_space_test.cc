#include "fewshot/plda/batch_space.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "fewshot/plda/adaptation.h"
#include "fewshot/plda/state.h"
#include "protocom/core/error.h"
#include "protocom/fewshot/methods.h"
#include "support/golden.h"

namespace protocom {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

constexpr int64_t kBatchClasses = 5, kBatchQueries = 60, kBatchDims = 120, kLoudDims = 8;

/// One labelled image per class; images of a class differ far more in a few dimensions than in the others.
EpisodeBatch loud_episode(uint64_t seed, int64_t shots = 1, int64_t queries = kBatchQueries) {
  at::manual_seed(seed);
  at::Tensor deviation = at::full({kBatchDims}, 0.7);
  deviation.narrow(0, 0, kLoudDims).fill_(3.2);
  const at::Tensor means = 0.45 * at::randn({kBatchClasses, kBatchDims});
  const at::Tensor labels = at::arange(queries, at::kLong).remainder(kBatchClasses);
  const auto around = [&](const at::Tensor& mean) { return mean + deviation * at::randn_like(mean); };
  EpisodeBatch batch;
  batch.support = around(means.unsqueeze(1).expand({kBatchClasses, shots, kBatchDims})).unsqueeze(0);
  batch.query = around(means.index_select(0, labels)).unsqueeze(0);
  return batch;
}

PldaModel model_for(const EpisodeBatch& batch) {
  const int64_t shots = batch.support.size(2);
  const auto state = make_method("plda-vb")->state();
  return adapted(plda_model_of(state), batch.support.view({-1, kBatchDims}),
                 at::arange(kBatchClasses, at::kLong).repeat_interleave(shots), kBatchClasses);
}

at::Tensor logits_by(const PldaModel& model, const EpisodeBatch& batch) {
  const auto method = make_method("plda-vb");
  method->load(state_of(model, {}));
  return method->prepare({})->score(batch).logits.squeeze(0).to(at::kDouble);
}

double share_right(const at::Tensor& logits) {
  const at::Tensor labels = at::arange(logits.size(0), at::kLong).remainder(kBatchClasses);
  return logits.argmax(1).eq(labels).to(at::kDouble).mean().item<double>();
}

TEST(PldaBatchSpace, ImagesOfABatchTellInWhatImagesOfAClassDiffer) {
  double following = 0, staying = 0;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const EpisodeBatch batch = loud_episode(seed, 3, 300);
    PldaModel model = model_for(batch);
    following += share_right(logits_by(model, batch)) / 4;
    model.vb.degrees = 0;
    staying += share_right(logits_by(model, batch)) / 4;
  }
  EXPECT_GT(following, staying + 0.03);
}

TEST(PldaBatchSpace, EndlessTrustInTheSpaceLeavesItAsItIs) {
  for (const int64_t shots : {1, 4}) {
    const EpisodeBatch batch = loud_episode(5, shots);
    PldaModel model = model_for(batch);
    model.vb.degrees = 1e12;
    const at::Tensor endless = logits_by(model, batch).softmax(1);
    model.vb.degrees = 0;
    EXPECT_LT(error_of(endless, logits_by(model, batch).softmax(1)), 1e-3);
  }
}

TEST(PldaBatchSpace, NeitherTheOrderOfABatchNorARotationChangesItsAnswers) {
  const EpisodeBatch batch = loud_episode(6, 2);
  const at::Tensor answers = logits_by(model_for(batch), batch).softmax(1);
  const at::Tensor order = at::randperm(kBatchQueries, at::kLong);
  EpisodeBatch ordered = batch;
  ordered.query = batch.query.index_select(1, order);
  EXPECT_LT(error_of(logits_by(model_for(ordered), ordered).softmax(1), answers.index_select(0, order)), 1e-3);
  const at::Tensor turn = std::get<0>(at::linalg_qr(at::randn({kBatchDims, kBatchDims})));
  EpisodeBatch turned = batch;
  turned.support = at::matmul(batch.support, turn);
  turned.query = at::matmul(batch.query, turn);
  EXPECT_LT(error_of(logits_by(model_for(turned), turned).softmax(1), answers), 1e-3);
}

TEST(PldaBatchSpace, QueriesBesideAPoolDoNotChangeOneAnother) {
  EpisodeBatch batch = loud_episode(7, 2);
  batch.unlabelled = loud_episode(8).query;
  const PldaModel model = model_for(batch);
  const at::Tensor all = logits_by(model, batch);
  batch.query = batch.query.narrow(1, 10, 7);
  EXPECT_LT(error_of(logits_by(model, batch).softmax(1), all.narrow(0, 10, 7).softmax(1)), 1e-4);
}

TEST(PldaBatchSpace, FilesOfBeforeItFollowedABatchStay) {
  PldaModel model = model_for(loud_episode(9, 3));
  MethodState state = state_of(model, {});
  EXPECT_EQ(plda_model_of(state).vb.degrees, model.vb.degrees);
  EXPECT_GT(model.vb.degrees, 0);
  for (auto& [name, tensor] : state.tensors)
    if (name == "batch") tensor = tensor.narrow(0, 0, 2).clone();
  EXPECT_EQ(plda_model_of(state).vb.degrees, 0);
  for (auto& [name, tensor] : state.tensors)
    if (name == "batch") tensor = at::tensor({0.3, 0.5, -1.0}, at::kDouble);
  try {
    plda_model_of(state);
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("-1 degrees"));
  }
}

}  // namespace
}  // namespace protocom
