#include "recognizer/describe_class.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "knowledge/mini_wordnet.h"
#include "recognizer/store_support.h"
#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

/// Returns knowledge of more attributes than the completion model, in another order.
Knowledge knowledge() {
  Knowledge known;
  known.classes = {"cat", "dog"};
  known.attributes = {"fin", "tail"};
  known.titles = {{"cat", "domestic cat"}};
  known.association = array_of(at::tensor({0.0F, 0.75F, 1.0F, 0.0F}).view({2, 2}));
  known.class_embedding = array_of(at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).view({2, 2}));
  known.attribute_embedding = array_of(at::tensor({5.0F, 6.0F, 7.0F, 8.0F}).view({2, 2}));
  return known;
}

ClassToDescribe request(const std::string& name, const std::vector<std::string>& attributes = {}) {
  return {ClassRequest(name, attributes)};
}

TEST(DescribeClass, AClassOfTheKnowledgeNeedsNothingButItsName) {
  const ClassDescription cat = describe_class(knowledge(), store_model({0, 0}), request("cat"));
  EXPECT_TRUE(at::equal(tensor_of(cat.association), at::tensor({0.75F})));  // over the model's one attribute, "tail"
  EXPECT_TRUE(at::equal(tensor_of(cat.embedding), at::tensor({1.0F, 2.0F})));
  EXPECT_EQ(cat.embedding_source, "knowledge");
  EXPECT_EQ(cat.title, "domestic cat");
}

TEST(DescribeClass, GivenAttributesWinOverTheKnowledgesOwn) {
  const ClassDescription cat = describe_class(knowledge(), store_model({0, 0}), request("cat", {"tail"}));
  EXPECT_TRUE(at::equal(tensor_of(cat.association), at::tensor({1.0F})));
}

TEST(DescribeClass, AttributesThatTheModelDoesNotKnowAreLeftOut) {
  const ClassDescription fish = describe_class(knowledge(), store_model({0, 0}), request("fish", {"fin"}));
  EXPECT_TRUE(at::equal(tensor_of(fish.association), at::zeros({1})));
  EXPECT_EQ(tensor_of(fish.embedding).numel(), 2);
}

TEST(DescribeClass, AVectorOfATextIsAsLongAsTheKnowledgesOwn) {
  ClassToDescribe stated = request("robin");
  stated.text_vector = Array::of<float>({0, 0.5F});
  const ClassDescription robin = describe_class(knowledge(), store_model({0, 0}), stated);
  // The lengths are sqrt(5) and 5, whose lower median is sqrt(5).
  EXPECT_TRUE(at::allclose(tensor_of(robin.embedding), at::tensor({0.0F, std::sqrt(5.0F)})));
  EXPECT_EQ(robin.embedding_source, "text");
  EXPECT_TRUE(at::equal(tensor_of(robin.association), at::zeros({1})));
  stated.attributes = {"tail"};
  EXPECT_TRUE(
      at::equal(tensor_of(describe_class(knowledge(), store_model({0, 0}), stated).association), at::tensor({1.0F})));
}

TEST(DescribeClass, AVectorOfATextIsThatOfTheOnlySourceOfItsLength) {
  Knowledge several = knowledge();
  several.class_embedding = array_of(at::tensor({1.0F, 2.0F, 0.0F, 3.0F, 4.0F, 5.0F}).view({2, 3}));
  several.attribute_embedding = array_of(at::zeros({2, 3}));
  several.embedding_sources = {2, 1};
  const StoreModel model{{}, FittedMethod{make_method("plda"), 2, {}}};
  ClassToDescribe stated = request("robin");
  stated.text_vector = Array::of<float>({2});
  // The lengths of that source are 0 and 5.
  EXPECT_TRUE(at::equal(tensor_of(describe_class(several, model, stated).embedding), at::tensor({0.0F, 0.0F, 5.0F})));
  several.embedding_sources = {1, 1, 1};
  EXPECT_THAT(message_of([&] { describe_class(several, model, stated); }), HasSubstr("knowledge 1, 1, 1"));
}

TEST(DescribeClass, AVectorOfAnotherTextEncoderIsRefused) {
  ClassToDescribe stated = request("robin");
  stated.text_vector = Array::of<float>({1, 1, 1});
  EXPECT_THAT(message_of([&] {
                describe_class(knowledge(), store_model({0, 0}), stated);
              }),
              AllOf(HasSubstr("3 dimensions"), HasSubstr("knowledge 2")));
  stated.text_vector = Array::of<float>({1, 1});
  Knowledge words = knowledge();
  words.details["embedding"] = {{"kind", "word-vectors"}};
  EXPECT_THAT(message_of([&] {
                describe_class(words, store_model({0, 0}), stated);
              }),
              HasSubstr("no vectors of texts"));
  EXPECT_THAT(message_of([&] { describe_without_knowledge(stated); }), HasSubstr("no knowledge"));
}

TEST(DescribeClass, AttributesForAModelThatUsesNoneAreSaidToBeOfNoUse) {
  const StoreModel model{{}, FittedMethod{make_method("plda"), 2, {}}};
  const Logged logged;
  EXPECT_EQ(tensor_of(describe_class(knowledge(), model, request("fish", {"fin"})).association).numel(), 0);
  EXPECT_THAT(logged.text(), HasSubstr("class 'fish': the model uses no attributes"));
}

TEST(DescribeClass, AnUnknownAttributeIsAnsweredWithItsNeighbours) {
  try {
    describe_class(knowledge(), store_model({0, 0}), request("fish", {"tial"}));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'tial'; did you mean 'tail'?"));
  }
}

TEST(DescribeClass, AttributesAndASynsetTogetherAreRefused) {
  ClassToDescribe both = request("cat", {"tail"});
  both.synset = "cat.n.01";
  EXPECT_THROW(describe_class(knowledge(), store_model({0, 0}), both), UsageError);
}

TEST(DescribeClass, AttributesOfASynsetThatNoBaseClassHasAreSaidInWords) {
  const TempDir folder;
  const auto wnids = write_animals(folder.path());
  Knowledge known = knowledge();
  known.attributes = {"fin", wnids.at("tail")};
  known.details = {{"source", {{"kind", "wordnet"}, {"relations", {"part"}}}}, {"embedding", {{"kind", "graph-svd"}}}};
  ClassToDescribe bird = request("bird");
  bird.synset = wnids.at("bird");
  bird.wordnet = folder.path();
  const Logged logged;
  describe_class(known, store_model({0, 0}), bird);
  EXPECT_THAT(logged.text(),
              HasSubstr("class 'bird': ignoring attributes that no base class has (3): essence; head; wing"));
}

TEST(DescribeClass, RefusesKnowledgeOfAnotherDimensionThanTheModels) {
  Knowledge other = knowledge();
  other.class_embedding = array_of(at::zeros({2, 3}));
  other.attribute_embedding = array_of(at::zeros({2, 3}));
  EXPECT_THROW(describe_class(other, store_model({0, 0}), request("cat")), Error);
}

}  // namespace
}  // namespace protocom::testing
