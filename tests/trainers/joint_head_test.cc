#include "trainers/detail/joint_head.h"

#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completer.h"
#include "heads/cosine_classifier.h"
#include "heads/episode_batch.h"
#include "heads/protocomnet.h"
#include "support/matrices.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

constexpr int64_t kWay = 3;
constexpr int64_t kShot = 2;
constexpr int64_t kQuery = 4;
constexpr int64_t kDim = 5;

struct World {
  ProtoComNet network{ProtoComNetOptions{kDim, 2, 4, 3, 6}};
  CompletionModel model{network.options(), weights_of(network), {"a", "b", "c"}, {}, {}, {}};
  KnowledgeTable classes;

  World() {
    torch::manual_seed(3);
    model.attribute_embedding = array_of(at::randn({3, 2}));
    model.attribute_mean = array_of(at::rand({3, kDim}));
    model.attribute_std = array_of(at::rand({3, kDim}));
    classes.association =
        array_of(at::tensor({1., 1., 0., 0., 1., 1., 0., 0., 0., 1., 0., 1.}, at::kFloat).view({4, 3}));
    classes.class_embedding = array_of(at::randn({4, 2}));
  }

  [[nodiscard]] JointCompletion completion() const { return {&model, &network, &classes}; }
};

EpisodeFeatures some_episode() {
  torch::manual_seed(5);
  return {{0, 2, 3}, at::rand({kWay, kShot, kDim}), at::rand({kWay * kQuery, kDim})};
}

at::Generator generator() { return at::make_generator<at::CPUGeneratorImpl>(11); }

double loss_of(const JointHead& head, const EpisodeFeatures& episode) {
  at::Generator noise = generator();
  const at::Tensor truth = at::arange(kWay).repeat_interleave(kQuery);
  return at::cross_entropy_loss(head.logits(episode, noise).to(at::kDouble), truth).item<double>();
}

/// Compares the gradient's length with the slope of the loss along it: least squares over several steps to both sides,
/// a thousandth wide, since float32 rounds each loss separately and the network has kinks farther away.
void expect_gradient(const JointHead& head, const EpisodeFeatures& episode, at::Tensor tensor,
                     const at::Tensor& gradient, const std::string& name) {
  ASSERT_TRUE(gradient.defined()) << name;
  const torch::NoGradGuard no_grad;
  // The change is largest along the gradient, where float32 resolves it best.
  const double length = gradient.norm().item<double>();
  ASSERT_GT(length, 0) << name;
  const at::Tensor kept = tensor.detach().clone();
  const auto loss_at = [&](double step) {
    tensor.copy_(kept + step * gradient / length);
    return loss_of(head, episode);
  };
  double products = 0, squares = 0;
  for (const double step : {0.5e-3, 0.6e-3, 0.7e-3, 0.8e-3, 0.9e-3, 1.0e-3, 1.1e-3, 1.2e-3}) {
    products += step * (loss_at(step) - loss_at(-step)) / 2;
    squares += step * step;
  }
  tensor.copy_(kept);
  EXPECT_NEAR(products / squares, length, 0.01 * length + 2e-4) << name;
}

class JointHeadGradient : public ::testing::TestWithParam<const char*> {};

TEST_P(JointHeadGradient, AgreesWithFiniteDifferences) {
  const World world;
  const JointHead head(GetParam(), world.completion(), 10);
  EpisodeFeatures episode = some_episode();
  episode.support.requires_grad_(true);
  episode.query.requires_grad_(true);
  at::Generator noise = generator();
  at::cross_entropy_loss(head.logits(episode, noise), at::arange(kWay).repeat_interleave(kQuery)).backward();
  expect_gradient(head, episode, episode.support, episode.support.grad(), "support");
  expect_gradient(head, episode, episode.query, episode.query.grad(), "query");
  expect_gradient(head, episode, head.scale(), head.scale().grad(), "gamma");
  if (GetParam() == std::string("mean")) return;
  for (const auto& [name, tensor] : world.network.state_dict()) {
    expect_gradient(head, episode, tensor, tensor.grad(), name);
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryMethod, JointHeadGradient,
                         ::testing::Values("mean", "completed", "mean-fusion", "gauss-fusion"));

TEST(JointHead, OfTheMeanIsTheScaledCosineToTheClassMeans) {
  const JointHead head("mean", {}, 7);
  EpisodeFeatures episode{{0, 1},
                          at::tensor({1., 0., 3., 0., 0., 2., 0., 2.}, at::kFloat).view({2, 2, 2}),
                          at::tensor({3., 4.}, at::kFloat).view({1, 2})};
  at::Generator noise = generator();
  // Means (2, 0) and (0, 2); the cosines of (3, 4) with them are 3/5 and 4/5.
  EXPECT_TRUE(at::allclose(head.logits(episode, noise), at::tensor({4.2, 5.6}, at::kFloat).view({1, 2})));
  EXPECT_EQ(head.parameters().size(), 1U);
}

TEST(JointHead, TakesAMethodWithItsParametersAndRefusesOneThatNeedsMore) {
  const World world;
  const JointHead head("gauss-fusion:scale=20", world.completion(), 10);
  EXPECT_NE(loss_of(head, some_episode()), loss_of(JointHead("gauss-fusion", world.completion(), 10), some_episode()));
  EXPECT_THROW(JointHead("simple-shot", {}, 10), UsageError);
  EXPECT_THROW(JointHead("proto-net", {}, 10), UsageError) << "it has no gradient";
  EXPECT_THROW(JointHead("restore-net", {}, 10), UsageError);
}

TEST(JointHead, UsesTheAttributesMeansWhereTheirStdIsZero) {
  World world;
  tensor_of(world.model.attribute_std).zero_();
  const EpisodeFeatures episode = some_episode();
  const JointHead head("completed", world.completion(), 10);
  at::Generator noise = generator();
  const Completer completer(world.model, world.classes);
  const at::Tensor mean = mean_prototypes(support_statistics(episode.support));
  const at::Tensor completed = protocom::tensor_of(completer.complete(float_matrix_of(mean), episode.classes));
  const at::Tensor expected = 10 * protocom::cosine_similarity(episode.query, completed);
  EXPECT_TRUE(at::allclose(head.logits(episode, noise), expected, 1e-4, 1e-5));
}

}  // namespace
}  // namespace protocom
