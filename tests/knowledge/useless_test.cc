#include "knowledge/useless.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "knowledge/tables.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom::testing {
namespace {

using ::testing::ElementsAre;

KnowledgeTable birds() {
  KnowledgeTable table;
  table.classes = {"crow", "raven", "jay", "ghost"};
  table.attributes = {"wing", "crest", "gill", "black"};
  table.association = array_of(at::tensor({1.0F, 0.0F, 0.0F, 1.0F,  // crow
                                           1.0F, 0.0F, 0.0F, 1.0F,  // raven
                                           1.0F, 0.5F, 0.0F, 0.0F,  // jay
                                           0.0F, 0.0F, 0.0F, 0.0F})
                                   .view({4, 4}));
  return table;
}

TEST(UselessKnowledge, AreEqualRowsAndColumnsThatDoNotVary) {
  const UselessKnowledge found = find_useless(birds());
  EXPECT_THAT(found.equal_classes, ElementsAre(ElementsAre("crow", "raven")));
  EXPECT_THAT(found.classes_of_none, ElementsAre("ghost"));
  EXPECT_THAT(found.attributes_of_none, ElementsAre("gill"));
  EXPECT_TRUE(found.attributes_of_all.empty()) << "the ghost has no wing";
  KnowledgeTable without_ghost = birds();
  without_ghost.classes.pop_back();
  without_ghost.association = array_of(tensor_of(without_ghost.association).slice(0, 0, 3).contiguous());
  EXPECT_THAT(find_useless(without_ghost).attributes_of_all, ElementsAre("wing"));
  EXPECT_THAT(class_counts(birds()), ElementsAre(3, 1, 0, 2));
}

TEST(MatrixCsv, IsReadBackAndLeavesUnknownCellsEmpty) {
  const TempDir folder;
  const KnowledgeTable known = birds();
  const std::string text = matrix_csv({"jay", "new, one"}, {"crest", "tail"}, &known);
  EXPECT_EQ(text, "class,crest,tail\njay,0.5,\n\"new, one\",,\n");
  write_file(folder / "m.csv", text);
  const AttributeTable read = read_attribute_matrix(folder / "m.csv");
  EXPECT_THAT(read.classes, ElementsAre("jay", "new, one"));
  EXPECT_TRUE(tensor_of(read.association).equal(at::tensor({0.5F, 0.0F, 0.0F, 0.0F}).view({2, 2})));
}

}  // namespace
}  // namespace protocom::testing
