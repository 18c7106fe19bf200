#include "trainers/detail/cpde_loss.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/golden.h"
#include "trainers/detail/kept_buffers.h"
#include "trainers/detail/split_orders.h"

namespace protocom {
namespace {

using testing::error_of;
using testing::golden;
using testing::tensor_of;

CpdeHeads golden_heads(const nlohmann::json& data) {
  const torch::NoGradGuard no_grad;
  CpdeHeads heads(6, 3, 4);
  heads.directions = tensor_of(data.at("directions"));
  heads.log_scale = at::full({}, data.at("log_scale").get<double>(), at::kDouble);
  heads.order->to(at::kDouble);
  heads.order->weight.copy_(tensor_of(data.at("order_weight")));
  heads.order->bias.copy_(tensor_of(data.at("order_bias")));
  return heads;
}

TEST(CpdeLoss, IsThatOfItsEquations) {
  const auto data = golden("cpde", "cpde.json");
  const CpdeHeads heads = golden_heads(data);
  const auto whole = [&](const char* name) { return at::tensor(data.at(name).get<std::vector<int64_t>>(), at::kLong); };
  const at::Tensor logits = cpde_logits(tensor_of(data.at("features")), heads, data.at("strength").get<double>());
  EXPECT_LT(error_of(logits, tensor_of(data.at("logits"))), 1e-11);
  const at::Tensor order = order_loss(tensor_of(data.at("channels")), whole("orders"), heads);
  EXPECT_NEAR(order.item<double>(), data.at("order_loss").get<double>(), 1e-12);
  const at::Tensor loss = at::cross_entropy_loss(logits, whole("labels")) + data.at("weight").get<double>() * order;
  EXPECT_NEAR(loss.item<double>(), data.at("loss").get<double>(), 1e-11);
}

TEST(SplitOrders, AreThePermutationsOfAnImagesQuarters) {
  const at::Tensor quarters = at::tensor({0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}, at::kFloat).view({4, 4});
  const at::Tensor images = quarters.expand({3, 3, 4, 4});
  const at::Tensor splits = ordered_splits(images, at::tensor({0, 1, 23}, at::kLong));  // 0123, 0132, 3210
  ASSERT_EQ(splits.sizes(), (std::vector<int64_t>{12, 3, 2, 2}));
  const at::Tensor expected = at::tensor({0, 1, 2, 3, 0, 1, 3, 2, 3, 2, 1, 0}, at::kFloat);
  EXPECT_TRUE(splits.equal(expected.view({12, 1, 1, 1}).expand_as(splits)));
}

TEST(SplitOrders, LeaveOutTheLineInTheMiddleOfAnOddSide) {
  const at::Tensor image = at::arange(25, at::kFloat).view({1, 1, 5, 5}).expand({1, 3, 5, 5});
  const at::Tensor splits = ordered_splits(image, at::zeros({1}, at::kLong));
  EXPECT_FLOAT_EQ(splits[0][0][0][0].item<float>(), 0);
  EXPECT_FLOAT_EQ(splits[3][0][1][1].item<float>(), 24);
  EXPECT_FLOAT_EQ(splits[1][0][0][0].item<float>(), 3);
}

TEST(SplitOrders, AreDrawnFromThePlaceAloneAndAllOfThem) {
  const ProcessGroup& single = ProcessGroup::single();
  const at::Tensor orders = draw_split_orders({7, 2, 3}, 4800, single);
  EXPECT_TRUE(orders.equal(draw_split_orders({7, 2, 3}, 4800, single)));
  EXPECT_FALSE(orders.equal(draw_split_orders({7, 2, 4}, 4800, single)));
  EXPECT_FALSE(orders.equal(draw_split_orders({7, 3, 3}, 4800, single)));
  EXPECT_FALSE(orders.equal(draw_split_orders({8, 2, 3}, 4800, single)));
  const at::Tensor counts = orders.bincount({}, kSplitOrders);
  EXPECT_GT(counts.min().item<int64_t>(), 130) << "200 each, five standard deviations of 14 below";
  EXPECT_LT(counts.max().item<int64_t>(), 270);
}

TEST(KeptBuffers, PutBackTheStatisticsAndLeaveTheGradients) {
  torch::manual_seed(1);
  NetworkOptions options;
  options.architecture = "conv4";
  options.image_size = 32;
  const auto backbone = make_backbone(options);
  backbone->set_mode(BackboneMode::kTrain);
  std::vector<at::Tensor> before;
  for (const auto& [name, tensor] : backbone->state_dict()) before.push_back(tensor.clone());
  at::Tensor loss;
  {
    const KeptBuffers kept(*backbone);
    loss = backbone->forward(at::rand({4, 3, 32, 32})).square().sum();
  }
  size_t i = 0;
  for (const auto& [name, tensor] : backbone->state_dict()) EXPECT_TRUE(tensor.equal(before[i++])) << name;
  loss.backward();
  for (const at::Tensor& parameter : backbone->parameters()) EXPECT_TRUE(parameter.grad().defined());
}

}  // namespace
}  // namespace protocom
