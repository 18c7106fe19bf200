#include "knowledge/knowledge.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "io/files.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::HasSubstr;

Knowledge two_classes() {
  Knowledge knowledge;
  knowledge.classes = {"zebra", "horse"};
  knowledge.attributes = {"stripes", "mane", "hoof"};
  knowledge.titles = {{"mane", "the mane"}, {"horse", "Equus caballus"}};
  knowledge.association = array_of(at::tensor({1.0F, 0.5F, 0.0F, 0.0F, 1.0F, 1.0F}).reshape({2, 3}));
  knowledge.class_embedding = array_of(at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).reshape({2, 2}));
  knowledge.attribute_embedding = array_of(at::tensor({5.0F, 6.0F, 7.0F, 8.0F, 9.0F, 10.0F}).reshape({3, 2}));
  return knowledge;
}

std::string error_of(const Knowledge& knowledge) {
  try {
    check_knowledge(knowledge);
  } catch (const Error& error) {
    return error.what();
  }
  return "(no Error)";
}

TEST(Knowledge, FindsClassesAndAttributesByName) {
  const Knowledge knowledge = two_classes();
  EXPECT_EQ(knowledge.class_index("horse"), 1);
  EXPECT_EQ(knowledge.class_index("unicorn"), -1);
  EXPECT_EQ(knowledge.attribute_index("hoof"), 2);
  EXPECT_EQ(knowledge.attribute_index("horse"), -1);
  EXPECT_EQ(knowledge.embedding_dim(), 2);
}

TEST(Knowledge, ComesBackFromItsFileAsItWas) {
  const testing::TempDir folder;
  Knowledge written = two_classes();
  written.context = {"animal"};
  written.context_embedding = array_of(at::tensor({0.5F, 0.25F}).reshape({1, 2}));
  write_knowledge(folder / "k.npz", written, {}, {{"vocabulary", "base"}});
  const Knowledge read = read_knowledge(folder / "k.npz");
  EXPECT_EQ(read.classes, written.classes);
  EXPECT_EQ(read.attributes, written.attributes);
  EXPECT_EQ(read.titles, written.titles);
  EXPECT_TRUE(tensor_of(read.association).equal(tensor_of(written.association)));
  EXPECT_TRUE(tensor_of(read.class_embedding).equal(tensor_of(written.class_embedding)));
  EXPECT_TRUE(tensor_of(read.attribute_embedding).equal(tensor_of(written.attribute_embedding)));
  EXPECT_EQ(read.context, written.context);
  EXPECT_TRUE(tensor_of(read.context_embedding).equal(tensor_of(written.context_embedding)));
  EXPECT_EQ(read.details.at("vocabulary"), "base");
  EXPECT_EQ(read.content_hash, hash_file(folder / "k.npz"));
}

TEST(Knowledge, WithoutAnyAttributeIsValid) {
  const testing::TempDir folder;
  Knowledge knowledge = two_classes();
  knowledge.attributes.clear();
  knowledge.titles.clear();
  knowledge.association = array_of(at::zeros({2, 0}));
  knowledge.attribute_embedding = array_of(at::zeros({0, 2}));
  write_knowledge(folder / "k.npz", knowledge, {}, nlohmann::json::object());
  const Knowledge read = read_knowledge(folder / "k.npz");
  EXPECT_TRUE(read.attributes.empty());
  EXPECT_EQ(tensor_of(read.association).sizes(), (std::vector<int64_t>{2, 0}));
}

TEST(Knowledge, RefusesAClassThatIsNamedTwice) {
  Knowledge knowledge = two_classes();
  knowledge.classes[1] = "zebra";
  EXPECT_THAT(error_of(knowledge), HasSubstr("duplicate class 'zebra'"));
}

TEST(Knowledge, RefusesWeightsOutsideZeroToOneNamingThePair) {
  Knowledge knowledge = two_classes();
  tensor_of(knowledge.association)[1][2] = 1.5F;
  EXPECT_THAT(error_of(knowledge), HasSubstr("attribute 'hoof' for class 'horse' is 1.5"));
  tensor_of(knowledge.association)[1][2] = -0.5F;
  EXPECT_THAT(error_of(knowledge), HasSubstr("is -0.5"));
}

TEST(Knowledge, RefusesSizesThatDisagreeOtherTypesAndNaN) {
  Knowledge knowledge = two_classes();
  knowledge.association = array_of(at::zeros({2, 2}));
  EXPECT_THAT(error_of(knowledge), HasSubstr("'association' of the knowledge is [2, 2], expected [2, 3]"));
  knowledge = two_classes();
  knowledge.attribute_embedding = array_of(at::zeros({3, 4}));
  EXPECT_THAT(error_of(knowledge), HasSubstr("'attribute_embedding' of the knowledge is [3, 4], expected [3, 2]"));
  knowledge = two_classes();
  knowledge.class_embedding = array_of(tensor_of(knowledge.class_embedding).to(at::kDouble));
  EXPECT_THAT(error_of(knowledge), HasSubstr("'class_embedding' of the knowledge: expected float32"));
  knowledge = two_classes();
  tensor_of(knowledge.class_embedding)[0][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_of(knowledge), HasSubstr("is not finite"));
  EXPECT_THAT(error_of(Knowledge()), HasSubstr("no class"));
}

TEST(Knowledge, RefusesAFileOfAnotherKindAndWritesNothingInvalid) {
  const testing::TempDir folder;
  NpzWriter writer(folder / "features.npz");
  add_header(writer, make_header("features", 1, {}));
  writer.close();
  EXPECT_THROW(read_knowledge(folder / "features.npz"), Error);
  Knowledge knowledge = two_classes();
  knowledge.classes[0].clear();
  EXPECT_THROW(write_knowledge(folder / "k.npz", knowledge, {}, {}), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "k.npz"));
}

TEST(Titles, EndAtTheFirstCommaAndFallBackOnTheName) {
  Knowledge knowledge;
  knowledge.titles = {{"n1", "boa constrictor, Constrictor constrictor"}, {"n2", ""}};
  EXPECT_EQ(short_title(knowledge, "n1"), "boa constrictor");
  EXPECT_EQ(short_title(knowledge, "n2"), "n2");
  EXPECT_EQ(short_title(knowledge, "n3"), "n3");
}

}  // namespace
}  // namespace protocom
