#include "eval/analysis_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fewshot/align_knowledge.h"
#include "support/untrained.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

TEST(Attention, NamesTheAttributesOfAClassAndNoOthers) {
  const auto world = testing::toy_world();
  const CompletionModel model = testing::untrained_model(world);
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, model.attributes);
  const auto found = analyse_attention({{world.features, &model, &classes}}, Split::kNovel, world.knowledge);
  ASSERT_EQ(found.size(), 6U);
  for (const ClassAttention& one : found) {
    const int64_t k = world.knowledge.class_index(one.class_name);
    EXPECT_EQ(one.attributes.size(), 4U);  // the toy world gives each class four
    EXPECT_EQ(one.images, 30);
    for (const AttributeUse& use : one.attributes)
      EXPECT_EQ(tensor_of(world.knowledge.association)[k][world.knowledge.attribute_index(use.attribute)].item<float>(),
                1.0F);
    EXPECT_TRUE(std::is_sorted(one.attributes.begin(), one.attributes.end(),
                               [](const auto& a, const auto& b) { return a.contribution > b.contribution; }));
  }
}

// With the aggregator's output weights at zero and its bias at 0.5, alpha is R / 2 whatever the inputs are.
TEST(Attention, IsTheAssociationTimesTheAggregatorsOutput) {
  auto world = testing::toy_world();
  world.knowledge.association = array_of(tensor_of(world.knowledge.association) * 0.5);
  const CompletionModel model = testing::untrained_model(world);
  tensor_of(model.weight("aggregator.2.weight")).zero_();
  tensor_of(model.weight("aggregator.2.bias")).fill_(0.5);
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, model.attributes);
  const auto found = analyse_attention({{world.features, &model, &classes}}, Split::kNovel, world.knowledge);
  for (const AttributeUse& use : found.front().attributes) {
    EXPECT_NEAR(use.association, 0.5, 1e-6);
    EXPECT_NEAR(use.alpha, 0.25, 1e-6);
    EXPECT_NEAR(use.alpha_std, 0.0, 1e-6);
  }
}

TEST(Attention, OfAClassWithoutAttributesIsEmpty) {
  auto world = testing::toy_world();
  const CompletionModel model = testing::untrained_model(world);
  tensor_of(world.knowledge.association).zero_();
  const KnowledgeTable classes = align_knowledge(world.knowledge, world.features.class_names, model.attributes);
  for (const auto& one : analyse_attention({{world.features, &model, &classes}}, Split::kNovel, world.knowledge))
    EXPECT_TRUE(one.attributes.empty());
}

}  // namespace
}  // namespace protocom
