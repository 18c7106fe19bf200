#include "heads/protocomnet.h"

#include <torch/torch.h>

#include "fewshot/paper/completion_model.h"
#include "support/golden.h"

namespace protocom {
namespace {

using protocom::testing::error_of;
using protocom::testing::golden;
using protocom::testing::tensor_of;

constexpr double kFloatBound = 2e-6;     // float32 rounding over sums of at most 12 products
constexpr double kGradientBound = 1e-5;  // the same, and the script's central differences

at::Tensor golden_float(const nlohmann::json& values) { return tensor_of(values).to(at::kFloat); }

ProtoComNet golden_network(const nlohmann::json& data) {
  ProtoComNetOptions options;
  options.feature_dim = 6;
  options.embedding_dim = 3;
  options.code_dim = 4;
  options.attention_hidden = 5;
  options.decoder_hidden = 7;
  ProtoComNet network(options);
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : network.state_dict()) tensor.copy_(golden_float(data.at("parameters").at(name)));
  return network;
}

CompletionInput golden_input(const nlohmann::json& data) {
  CompletionInput input;
  input.prototypes = golden_float(data.at("prototypes"));
  input.class_embedding = golden_float(data.at("class_embedding"));
  input.attribute_embedding = golden_float(data.at("attribute_embedding"));
  const at::Tensor association = golden_float(data.at("association"));
  const at::Tensor pairs = association.nonzero();
  input.pair_prototype = pairs.select(1, 0).contiguous();
  input.pair_attribute = pairs.select(1, 1).contiguous();
  input.pair_weight = association.index({input.pair_prototype, input.pair_attribute});
  input.pair_feature = golden_float(data.at("attribute_feature")).index_select(0, input.pair_attribute);
  return input;
}

TEST(ProtoComNet, CompletesAsTheEquationsSay) {
  const auto data = golden("protocomnet");
  const at::Tensor completed = golden_network(data).forward(golden_input(data));
  EXPECT_LT(error_of(completed, tensor_of(data.at("completed"))), kFloatBound);
}

TEST(ProtoComNet, HasTheGradientOfTheEquations) {
  const auto data = golden("protocomnet");
  const ProtoComNet network = golden_network(data);
  CompletionInput input = golden_input(data);
  input.prototypes.set_requires_grad(true);
  const at::Tensor loss = torch::mse_loss(network.forward(input), golden_float(data.at("target")));
  EXPECT_NEAR(loss.item<double>(), data.at("loss").get<double>(), kFloatBound * loss.item<double>());
  loss.backward();
  for (const auto& [name, tensor] : network.state_dict()) {
    EXPECT_LT(error_of(tensor.grad(), tensor_of(data.at("gradients").at(name))), kGradientBound) << name;
  }
  EXPECT_LT(error_of(input.prototypes.grad(), tensor_of(data.at("prototype_gradient"))), kGradientBound);
}

TEST(ProtoComNet, DoesNotDependOnTheOrderOfThePairs) {
  const auto data = golden("protocomnet");
  const ProtoComNet network = golden_network(data);
  const CompletionInput input = golden_input(data);
  CompletionInput reversed = input;
  for (at::Tensor* tensor :
       {&reversed.pair_prototype, &reversed.pair_attribute, &reversed.pair_weight, &reversed.pair_feature}) {
    *tensor = tensor->flip(0).contiguous();
  }
  EXPECT_LT(error_of(network.forward(reversed), network.forward(input).to(at::kDouble)), kFloatBound);
}

TEST(ProtoComNet, DecodesAClassWithoutAttributesFromItsOwnCode) {
  const auto data = golden("protocomnet");
  const ProtoComNet network = golden_network(data);
  CompletionInput input = golden_input(data);
  const at::Tensor alone = input.prototypes.narrow(0, 3, 1);  // the class whose row of R is zero
  EXPECT_LT(error_of(network.decode(network.encode(alone)), tensor_of(data.at("completed")).narrow(0, 3, 1)),
            kFloatBound);
  input.pair_prototype = at::empty({0}, at::kLong);  // no class of the batch has an attribute
  EXPECT_EQ(network.forward(input).size(0), 4);
}

TEST(ProtoComNet, HasThePapersLayersByDefault) {
  const ProtoComNet network{ProtoComNetOptions{}};
  EXPECT_EQ(network.parameter("encoder.weight").sizes(), (std::vector<int64_t>{256, 512}));
  EXPECT_EQ(network.parameter("aggregator.0.weight").sizes(), (std::vector<int64_t>{300, 512 + 2 * 300}));
  EXPECT_EQ(network.parameter("aggregator.2.weight").sizes(), (std::vector<int64_t>{1, 300}));
  EXPECT_EQ(network.parameter("decoder.0.weight").sizes(), (std::vector<int64_t>{512, 256}));
  EXPECT_EQ(network.parameter("decoder.2.weight").sizes(), (std::vector<int64_t>{512, 512}));
}

// Training changes a model through the network made from it.
TEST(ProtoComNet, OfAModelHasItsWeightsAndChangesThem) {
  const ProtoComNet untrained(ProtoComNetOptions{6, 3, 4, 5, 7});
  const CompletionModel model{untrained.options(), weights_of(untrained), {}, {}, {}, {}};
  const ProtoComNet network(model);
  ASSERT_EQ(network.state_dict().size(), untrained.state_dict().size());
  for (const auto& [name, tensor] : network.state_dict()) {
    EXPECT_TRUE(tensor.requires_grad()) << name;
    EXPECT_TRUE(tensor.equal(untrained.parameter(name))) << name;
    const torch::NoGradGuard no_grad;
    tensor.fill_(2);
    EXPECT_EQ(model.weight(name).data<float>()[0], 2) << name;
  }
}

}  // namespace
}  // namespace protocom
