#include "knowledge/class_texts.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClassTextFile : public ::testing::Test {
 protected:
  ClassTexts read(const std::string& csv) {
    write_file(folder_ / "texts.csv", csv);
    return read_class_texts(folder_ / "texts.csv");
  }
  std::string refusal(const std::string& csv) {
    return message_of([&] { read(csv); });
  }
  TempDir folder_;
};

TEST_F(ClassTextFile, AClassHasTheDescriptionsOfItsRowsAndOfItsColumns) {
  const ClassTexts found =
      read("class,description,note,description 2\nbird,\"small, brown\",x,red crown\nemu,tall,,\nbird, a beak ,,\n");
  EXPECT_THAT(found.classes, ElementsAre("bird", "emu"));
  EXPECT_THAT(found.texts, ElementsAre("small, brown", "red crown", "tall", "a beak"));
  EXPECT_THAT(found.owner, ElementsAre(0, 0, 1, 0));
}

TEST_F(ClassTextFile, WhatIsMissingIsNamedWithItsPlace) {
  EXPECT_THAT(refusal("class,description\nbird,brown\nemu, \n"), AllOf(HasSubstr("texts.csv:3"), HasSubstr("'emu'")));
  EXPECT_THAT(refusal("class,description\n,brown\n"), AllOf(HasSubstr("texts.csv:2"), HasSubstr("without a class")));
  EXPECT_THAT(refusal("class,text\nbird,brown\n"), HasSubstr("description"));
  EXPECT_THAT(refusal("name,description\nbird,brown\n"), HasSubstr("class"));
  EXPECT_THAT(refusal("class,description\n"), HasSubstr("no row"));
}

TEST_F(ClassTextFile, NamesAreALineEach) {
  write_file(folder_ / "names.txt", "\xef\xbb\xbfokapi\r\n\n joshua_tree \n");
  EXPECT_THAT(read_class_names(folder_ / "names.txt"), ElementsAre("okapi", "joshua_tree"));
  write_file(folder_ / "names.txt", "okapi\nemu\nokapi\n");
  EXPECT_THAT(message_of([&] { read_class_names(folder_ / "names.txt"); }),
              AllOf(HasSubstr("names.txt:3"), HasSubstr("line 1")));
  write_file(folder_ / "names.txt", "\n");
  EXPECT_THAT(message_of([&] { read_class_names(folder_ / "names.txt"); }), HasSubstr("no name"));
}

TEST(TextsOfNames, PutTheNameInWordsIntoEachTemplate) {
  const ClassTexts made = texts_of_names({"001.Joshua_Tree", "emu"}, {"a photo of a {}.", "{}, a {}"});
  EXPECT_THAT(made.texts, ElementsAre("a photo of a Joshua Tree.", "a photo of a emu.", "Joshua Tree, a Joshua Tree",
                                      "emu, a emu"));
  EXPECT_THAT(made.owner, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(message_of([] { texts_of_names({"emu"}, {"a photo"}); }), HasSubstr("'a photo'"));
}

TEST(ClassDirections, AreTheMeansOfUnitVectorsAtUnitLength) {
  const ClassTexts texts = {{"a", "b"}, {"1", "2", "3"}, {0, 0, 1}};
  // Directions (1, 0) and (0, 1), whose mean points to (1, 1); lengths do not matter.
  const at::Tensor made =
      tensor_of(class_directions(texts, array_of(at::tensor({5.0F, 0.0F, 0.0F, 0.1F, 3.0F, 4.0F}).view({3, 2}))));
  const float half = std::sqrt(0.5F);
  EXPECT_TRUE(at::allclose(made, at::tensor({half, half, 0.6F, 0.8F}).view({2, 2})));
  EXPECT_THAT(message_of([&] {
                tensor_of(class_directions(texts, array_of(at::tensor({1.0F, -2.0F, 1.0F}).view({3, 1}))));
              }),
              HasSubstr("'a'"));
}

}  // namespace
}  // namespace protocom
