#include "knowledge/tables.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "support/logged.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TablesTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  template <typename Read>
  static std::string error_of(const Read& read) {
    try {
      read();
    } catch (const Error& error) {
      return error.what();
    }
    return "(no Error)";
  }

  std::string table_error(const std::string& text) const {
    const auto path = write("t.csv", text);
    return error_of([&] { read_attributes(path); });
  }
  std::string matrix_error(const std::string& text) const {
    const auto path = write("m.csv", text);
    return error_of([&] { read_attribute_matrix(path); });
  }

  /// Writes two classes and three attributes, with attributes.txt at `names`.
  void write_cub(const std::string& names, const std::string& percentages = "0.0 50.0 49.9\n100 2.5 75\n") const {
    write("CUB_200_2011/classes.txt", "1 001.Black_footed_Albatross\n2 002.Laysan_Albatross\n");
    write("CUB_200_2011/attributes/class_attribute_labels_continuous.txt", percentages);
    write(names, "1 has_bill_shape::curved_(up_or_down)\n2 has_wing_color::blue\n3 has_size::small_(5_-_9_in)\n");
  }

  testing::TempDir folder_;
};

bool equal(const at::Tensor& tensor, const std::vector<std::vector<float>>& rows) {
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t c = 0; c < rows[r].size(); ++c) {
      if (tensor[static_cast<int64_t>(r)][static_cast<int64_t>(c)].item<float>() != rows[r][c]) return false;
    }
  }
  return tensor.size(0) == static_cast<int64_t>(rows.size());
}

TEST_F(TablesTest, ReadsAnEdgeALine) {
  const AttributeTable table =
      read_attributes(write("t.csv", "class,attribute\nzebra,stripes\nhorse,mane\nzebra,mane\nsnake,\n"));
  EXPECT_THAT(table.classes, ElementsAre("zebra", "horse", "snake"));
  EXPECT_THAT(table.attributes, ElementsAre("stripes", "mane"));
  EXPECT_TRUE(equal(tensor_of(table.association), {{1, 1}, {0, 1}, {0, 0}}));
}

TEST_F(TablesTest, SpacesAroundNamesAndWeightsAreNoPartOfThem) {
  const AttributeTable table = read_attributes(write("t.csv", "class,attribute\nzebra ,  fin\n zebra,tail \n"));
  EXPECT_THAT(table.classes, ElementsAre("zebra"));
  EXPECT_THAT(table.attributes, ElementsAre("fin", "tail"));
  const AttributeTable matrix = read_attribute_matrix(write("m.csv", "animal, tail ,fin\n cat, 1 , \n"));
  EXPECT_THAT(matrix.classes, ElementsAre("cat"));
  EXPECT_THAT(matrix.attributes, ElementsAre("tail", "fin"));
  EXPECT_TRUE(equal(tensor_of(matrix.association), {{1, 0}}));
}

TEST_F(TablesTest, ReadsWeightsInAnyColumnOrder) {
  const AttributeTable table =
      read_attributes(write("t.csv", "weight,attribute,class\n0.25,long_neck,giraffe\n1,spots,giraffe\n"));
  EXPECT_TRUE(equal(tensor_of(table.association), {{0.25, 1}}));
  EXPECT_THAT(table.lemmas.at("long_neck"), ElementsAre("long_neck"));
  EXPECT_EQ(table.titles.at("long_neck"), "long neck");
}

TEST_F(TablesTest, AttributesThatDifferInCapitalsOrNumberAreOne) {
  const testing::Logged logged;
  const AttributeTable pairs = read_attributes(
      write("t.csv",
            "class,attribute,weight\na,Hooked Bill,0.5\nb,hooked bill,1\nb,hooked_bills,0.25\na,foot,1\nb,feet,1\n"));
  EXPECT_THAT(pairs.attributes, ElementsAre("Hooked Bill", "foot"));
  EXPECT_TRUE(equal(tensor_of(pairs.association), {{0.5, 1}, {1, 1}}));
  EXPECT_THAT(logged.text(), HasSubstr("'hooked bill' as 'Hooked Bill'"));
  const AttributeTable matrix =
      read_attribute_matrix(write("m.csv", "class,Stripes,tail,stripe\na,1,0,0\nb,0,1,0.5\n"));
  EXPECT_THAT(matrix.attributes, ElementsAre("Stripes", "tail"));
  EXPECT_TRUE(equal(tensor_of(matrix.association), {{1, 0}, {0.5, 1}}));
}

TEST_F(TablesTest, RefusesBadEdgesWithTheirLine) {
  EXPECT_THAT(table_error("class,attribute\na,x\nb,x\na,x\n"), HasSubstr("t.csv:4: duplicate pair 'a' and 'x'"));
  EXPECT_THAT(table_error("class,attribute,weight\na,x,1.5\n"),
              HasSubstr("t.csv:2: the weight of x is '1.5', expected a number from 0 to 1"));
  EXPECT_THAT(table_error("class,attribute,weight\na,x,nan\n"), HasSubstr("t.csv:2"));
  EXPECT_THAT(table_error("class,attribute,weight\na,x,\n"), HasSubstr("t.csv:2"));
  EXPECT_THAT(table_error("class,attribute\n,x\n"), HasSubstr("t.csv:2: the class has no name"));
  EXPECT_THAT(table_error("class,part\na,fin\n"), HasSubstr("expected the header class,attribute"));
  EXPECT_THAT(table_error("class,attribute\n"), HasSubstr("no rows"));
}

TEST_F(TablesTest, AThirdColumnThatIsAValueIsTheWeightWhateverItIsCalled) {
  const auto weights = [&](const std::string& header, const std::string& horse, const std::string& zebra) {
    const AttributeTable table =
        read_attributes(write("v.csv", header + "\nhorse,stripes," + horse + "\nzebra,stripes," + zebra + "\n"));
    return std::vector<float>{tensor_of(table.association)[0][0].item<float>(),
                              tensor_of(table.association)[1][0].item<float>()};
  };
  // As written by pandas' melt, annotation exports and people.
  EXPECT_THAT(weights("class,attribute,value", "0", "1"), ElementsAre(0, 1));
  EXPECT_THAT(weights("Class,Attribute,Value", "0", "1"), ElementsAre(0, 1));
  EXPECT_THAT(weights("class,attribute,present", "N", "Y"), ElementsAre(0, 1));
  EXPECT_THAT(weights("class,attribute,present", "F", "T"), ElementsAre(0, 1));
  EXPECT_THAT(weights("class,attribute,seen", "False", "True"), ElementsAre(0, 1));
  EXPECT_THAT(weights("class,attribute,score", "0.25", "0.5"), ElementsAre(0.25, 0.5));
  EXPECT_THAT(weights("class,attribute,score", "25%", "50 %"), ElementsAre(0.25, 0.5));
  EXPECT_THAT(weights("class,attribute,value", "25", "75"), ElementsAre(0.25, 0.75));
  EXPECT_THAT(weights("class,attribute,percent", "5", "10"), ElementsAre(0.05F, 0.1F));
  EXPECT_THAT(weights("class,attribute,value", "-1", "1"), ElementsAre(0, 1));
}

TEST_F(TablesTest, AnotherColumnThatIsNoValueIsNotRead) {
  const AttributeTable table =
      read_attributes(write("n.csv", ",class,attribute,note,image_id\n0,horse,mane,seen by Ann,17\n1,cat,tail,,90\n"));
  EXPECT_TRUE(equal(tensor_of(table.association), {{1, 0}, {0, 1}}));
}

TEST_F(TablesTest, NumbersThatCanMeanSeveralThingsAreRefused) {
  EXPECT_THAT(table_error("class,attribute,value\na,x,0\nb,x,4\n"),
              HasSubstr("t.csv:3: the weight of x is '4', expected a number from 0 to 1, x, yes or no: the table holds "
                        "numbers up to 4, whose maximum is unknown"));
  EXPECT_THAT(table_error("class,attribute,value\na,x,0\nb,x,1\nc,x,1\nd,x,30\n"), HasSubstr("most are 0 and 1"));
  EXPECT_THAT(table_error("class,attribute,value\na,x,-1\nb,x,0\n"), HasSubstr("-1 for no is supported only beside 1"));
  EXPECT_THAT(table_error("class,attribute,value\na,x,300\n"), HasSubstr("numbers up to 300"));
  EXPECT_THAT(table_error("class,attribute,value\na,x,50%\nb,x,1\n"), HasSubstr("some numbers with %"));
  EXPECT_THAT(table_error("class,attribute,percent\na,x,0.5\n"), HasSubstr("which may be shares"));
  EXPECT_THAT(table_error("class,attribute,legs\na,x,2\nb,x,4\n"), HasSubstr("column 'legs' has numbers"));
  EXPECT_THAT(table_error("class,attribute,value,score\na,x,1,1\n"),
              HasSubstr("both 'value' and 'score' may be the weights"));
  EXPECT_THAT(table_error("class,attribute,value\na,x,some\n"), HasSubstr("the weight of x is 'some'"));
}

TEST_F(TablesTest, AMatrixOfPercentagesOrSignsIsReadAsThat) {
  EXPECT_TRUE(equal(tensor_of(read_attributes(write("m.csv", "c,tail,wing\ncat,75,0\nowl,0,100\n")).association),
                    {{0.75, 0}, {0, 1}}));
  EXPECT_TRUE(equal(tensor_of(read_attributes(write("m.csv", "c,tail,wing\ncat,1,-1\nowl,-1,1\n")).association),
                    {{1, 0}, {0, 1}}));
  EXPECT_THAT(matrix_error("c,tail,legs\ncat,1,4\nowl,1,2\n"), HasSubstr("m.csv:2: the weight of legs is '4'"));
}

TEST_F(TablesTest, ReadsAMatrix) {
  const AttributeTable table = read_attribute_matrix(write("m.csv", "animal,tail,has wings\ncat,1,0\nowl,0.5,\n"));
  EXPECT_THAT(table.classes, ElementsAre("cat", "owl"));
  EXPECT_THAT(table.attributes, ElementsAre("tail", "has wings"));
  EXPECT_TRUE(equal(tensor_of(table.association), {{1, 0}, {0.5, 0}}));
  EXPECT_THAT(table.lemmas.at("has wings"), ElementsAre("has_wings"));
}

TEST_F(TablesTest, RefusesABadMatrixWithLineAndColumn) {
  EXPECT_THAT(matrix_error("c,tail,wing\ncat,1,some\n"), HasSubstr("m.csv:2: the weight of wing is 'some'"));
  EXPECT_THAT(matrix_error("c,tail\ncat,1\ncat,0\n"), HasSubstr("m.csv:3: duplicate class 'cat'"));
  EXPECT_THAT(matrix_error("c,tail,tail\ncat,1,1\n"), HasSubstr("m.csv:1: duplicate column 'tail'"));
  EXPECT_THAT(matrix_error("c,tail,\ncat,1,1\n"), HasSubstr("m.csv:1: column 3 has no name"));
  EXPECT_THAT(matrix_error("c,tail\n,1\n"), HasSubstr("m.csv:2: the class has no name"));
}

TEST_F(TablesTest, ReadsWhatSpreadsheetsMakeOfATemplate) {
  const AttributeTable table = read_attributes(
      write("m.csv", "class;tail;has wings;;\ncat;0,5;;;\nowl;x;YES;;\nelk;false;no;;\n;;;;\nyak;1;0.25;;\n"));
  EXPECT_EQ(table.source.at("kind"), "matrix");
  EXPECT_THAT(table.classes, ElementsAre("cat", "owl", "elk", "yak"));
  EXPECT_THAT(table.attributes, ElementsAre("tail", "has wings"));
  EXPECT_TRUE(equal(tensor_of(table.association), {{0.5, 0}, {1, 1}, {0, 0}, {1, 0.25}}));
  EXPECT_THAT(matrix_error("class;tail\ncat;1,2,3\n"),
              HasSubstr("'1,2,3', expected a number from 0 to 1, x, yes or no"));
}

TEST_F(TablesTest, TellsTheTwoFormsByTheHeader) {
  EXPECT_EQ(read_attributes(write("t.csv", "attribute\tclass\nfin\tshark\n")).source.at("kind"), "table");
  EXPECT_EQ(read_attributes(write("m.csv", "class,fin\nshark,1\n")).source.at("kind"), "matrix");
  EXPECT_THAT(error_of([&] { read_attributes(write("one.csv", "class\nshark\n")); }), HasSubstr("the only column"));
}

TEST_F(TablesTest, PairsMayBeCalledInOtherWords) {
  for (const char* header : {"Class;Attribute", "CLASS,ATTRIBUTE", "species,trait", "Label,Feature",
                             "Category\tProperty", "sep=;\nclass;attribute"}) {
    const std::string text(header);
    const char between = text.find('\t') != text.npos ? '\t' : text.find(';') != text.npos ? ';' : ',';
    const AttributeTable table = read_attributes(write("t.csv", text + "\nzebra" + between + "stripes\n"));
    EXPECT_THAT(table.classes, ElementsAre("zebra")) << header;
    EXPECT_THAT(table.attributes, ElementsAre("stripes")) << header;
  }
}

TEST_F(TablesTest, AMatrixMayHaveAnAttributeThatIsCalledFeature) {
  const AttributeTable table = read_attributes(write("m.csv", "class,feature,tail\nzebra,1,0\n"));
  EXPECT_THAT(table.attributes, ElementsAre("feature", "tail"));
}

TEST_F(TablesTest, PairsWithoutAHeaderAreToldTheOneThatIsExpected) {
  const std::string message =
      error_of([&] { read_attributes(write("t.csv", "zebra,stripes\nzebra,hooves\nhorse,hooves\n")); });
  EXPECT_THAT(message, HasSubstr("expected the header class,attribute"));
  EXPECT_THAT(message, HasSubstr("'zebra,stripes'"));
}

/// Returns the matrix in the archive's layout of Animals with Attributes 2, for two classes and three attributes.
std::string awa2_matrix(const char* first, const char* second) { return std::string(first) + "\n" + second + "\n"; }

TEST_F(TablesTest, AnimalsWithAttributesIsReadAsItsArchiveLaysItOut) {
  const auto root = write("awa/classes.txt", "    1\tantelope\n    2\tgrizzly+bear\n").parent_path();
  write("awa/predicates.txt", "    1\tblack\n    2\tlong neck\n    3\thooves\n");
  write("awa/predicate-matrix-binary.txt", awa2_matrix("0 0 1", "1 0 0"));
  write("awa/predicate-matrix-continuous.txt", awa2_matrix(" 10.50  -1.00 100.00", " 70.00  5.00   0.00"));
  const AttributeTable binary = read_awa2_attributes(root);
  EXPECT_THAT(binary.classes, ElementsAre("antelope", "grizzly+bear"));
  EXPECT_THAT(binary.attributes, ElementsAre("black", "long neck", "hooves"));
  EXPECT_EQ(tensor_of(binary.association)[0][2].item<float>(), 1.0F);
  EXPECT_EQ(tensor_of(binary.association)[1][2].item<float>(), 0.0F);
  EXPECT_EQ(binary.titles.at("grizzly+bear"), "grizzly bear");
  EXPECT_FLOAT_EQ(tensor_of(read_awa2_attributes(root, Awa2Weights::kContinuous).association)[0][0].item<float>(),
                  0.105F);
  EXPECT_EQ(tensor_of(read_awa2_attributes(root, Awa2Weights::kContinuous).association)[0][1].item<float>(), 0.0F);
  write("awa/predicate-matrix-binary.txt", awa2_matrix("0 0 2", "1 0 0"));
  EXPECT_THAT(error_of([&] { read_awa2_attributes(root); }), HasSubstr("expected only 0 and 1"));
  EXPECT_THAT(error_of([&] { read_awa2_attributes(root / "none"); }), HasSubstr("classes.txt"));
}

TEST_F(TablesTest, AttributesWithoutNamesOfABenchmarkAreRefusedWithWhereTheNamesAre) {
  EXPECT_THAT(error_of([&] { read_attributes(write("att_splits.mat", "MATLAB 5.0")); }), HasSubstr("knowledge awa2"));
}

TEST_F(TablesTest, CubWithAThresholdCountsThePercentagesFromItOn) {
  write_cub("attributes.txt");
  const AttributeTable table = read_cub_attributes(folder_ / "CUB_200_2011");
  EXPECT_THAT(table.classes, ElementsAre("001.Black_footed_Albatross", "002.Laysan_Albatross"));
  EXPECT_TRUE(equal(tensor_of(table.association), {{0, 1, 0}, {1, 0, 1}}));
  EXPECT_THAT(table.lemmas.at("has_bill_shape::curved_(up_or_down)"), ElementsAre("bill_shape_curved_up_or_down"));
  EXPECT_THAT(table.lemmas.at("001.Black_footed_Albatross"), ElementsAre("Black_footed_Albatross"));
}

TEST_F(TablesTest, CubAtThresholdZeroNeedsAnImageThatShowsTheAttribute) {
  write_cub("attributes.txt");
  EXPECT_TRUE(
      equal(tensor_of(read_cub_attributes(folder_ / "CUB_200_2011", {0.0}).association), {{0, 1, 1}, {1, 1, 1}}));
}

TEST_F(TablesTest, CubContinuousIsThePercentageAsAShare) {
  write_cub("attributes.txt");
  const at::Tensor shares = tensor_of(read_cub_attributes(folder_ / "CUB_200_2011", {std::nullopt}).association);
  EXPECT_FLOAT_EQ(shares[0][1].item<float>(), 0.5F);
  EXPECT_FLOAT_EQ(shares[1][1].item<float>(), 0.025F);
}

TEST_F(TablesTest, CubFindsTheAttributeNamesWhereverTheArchiveHasThem) {
  for (const char* place :
       {"attributes.txt", "CUB_200_2011/attributes.txt", "CUB_200_2011/attributes/attributes.txt"}) {
    write_cub(place);
    EXPECT_EQ(read_cub_attributes(folder_ / "CUB_200_2011").attributes.size(), 3U) << place;
    EXPECT_EQ(read_cub_attributes(folder_.path()).attributes.size(), 3U) << place;
    std::filesystem::remove(folder_ / place);
  }
  EXPECT_THAT(error_of([&] { read_cub_attributes(folder_ / "CUB_200_2011"); }), HasSubstr("attributes.txt: not found"));
}

TEST_F(TablesTest, CubRefusesCountsThatDisagree) {
  const auto error = [&](const std::string& percentages) {
    write_cub("attributes.txt", percentages);
    return error_of([&] { read_cub_attributes(folder_ / "CUB_200_2011"); });
  };
  EXPECT_THAT(error("1 2 3\n1 2\n"), HasSubstr("class_attribute_labels_continuous.txt:2: 2 numbers, expected 3"));
  EXPECT_THAT(error("1 2 3 4\n"), HasSubstr("continuous.txt:1: more than 3 numbers"));
  EXPECT_THAT(error("1 2 3\n"), HasSubstr("1 lines, expected 2"));
  EXPECT_THAT(error("1 2 3\n1 2 3\n1 2 3\n"), HasSubstr("continuous.txt:3: more lines than the 2 classes"));
  EXPECT_THAT(error("1 2 101\n1 2 3\n"), HasSubstr("continuous.txt:1: '101' is not a percentage"));
  EXPECT_THROW(read_cub_attributes(folder_ / "CUB_200_2011", {101.0}), UsageError);
}

// Otherwise 250 KB of distinct names would become a matrix of 1.6 GB, several times.
TEST_F(TablesTest, RefusesAMatrixThatItsFileDoesNotBear) {
  std::string text = "class,attribute\n";
  for (int i = 0; i < 9000; ++i) text += "c" + std::to_string(i) + ",a" + std::to_string(i) + "\n";
  EXPECT_THAT(table_error(text), HasSubstr("9000 classes with 9000 attributes are more than 67 million pairs"));
}

}  // namespace
}  // namespace protocom
