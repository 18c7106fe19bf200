#include "datasets/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "io/files.h"
#include "support/message_of.h"
#include "support/real_data.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class SplitTest : public ::testing::Test {
 protected:
  SplitTable read(const std::string& csv) const {
    write_file(folder_ / "s.csv", csv);
    return read_split(folder_ / "s.csv");
  }
  std::string error_of(const std::string& csv) const {
    return testing::message_of([&] { read(csv); });
  }
  std::string error_at(const fs::path& path) const {
    return testing::message_of([&] { read_split(path); });
  }
  void put_lists(const std::string& prefix, const std::string& base, const std::string& val,
                 const std::string& novel) const {
    write_file(folder_ / (prefix + "base.txt"), base);
    write_file(folder_ / (prefix + "val.txt"), val);
    write_file(folder_ / (prefix + "novel.txt"), novel);
  }

  testing::TempDir folder_;
};

const auto three =
    UnorderedElementsAre(Pair("great white shark", Split::kBase), Pair("n02", Split::kVal), Pair("n03", Split::kNovel));

TEST_F(SplitTest, ReadsACsvWhateverTheOrderOfItsColumns) {
  EXPECT_THAT(read("class,split\ngreat white shark,base\nn02,val\nn03,novel\n"), three);
  EXPECT_THAT(read("number,split,class\r\n1,base,great white shark\r\n2,val,n02\r\n3,novel,n03\r\n"), three);
}

TEST_F(SplitTest, KnowsTheOtherNamesOfTheSplits) {
  EXPECT_THAT(read("class,split\na,train\nb,valid\nc,validation\nd,test\n"),
              UnorderedElementsAre(Pair("a", Split::kBase), Pair("b", Split::kVal), Pair("c", Split::kVal),
                                   Pair("d", Split::kNovel)));
  for (const Split split : kAllSplits) EXPECT_EQ(parse_split(to_string(split)), split);
  for (const char* text : {"", "Base", "base ", "unseen"}) {
    EXPECT_THAT(testing::usage_message_of([&] { parse_split(text); }), HasSubstr("expected base, val or novel"));
  }
}

TEST_F(SplitTest, BlanksAroundNamesAreNoPartOfThem) {
  EXPECT_THAT(read("class,split\n great white shark ,base \n\"n02 \", val\n\" n03\",\"novel \"\n"), three);
  EXPECT_THAT(error_of("class,split\nzebra,base\nzebra ,base\n"), HasSubstr("duplicate class 'zebra'"));
  EXPECT_THAT(error_of("class,split\n  ,base\n"), HasSubstr("s.csv:2: the name of the class is empty"));
}

TEST_F(SplitTest, NamesTheFilesThatItReads) {
  write_file(folder_ / "s.csv", "class,split\nn02,val\n");
  write_file(folder_ / "l-base.txt", "n02\n");
  write_file(folder_ / "l-novel.txt", "n03\n");
  EXPECT_THAT(split_files(folder_ / "s.csv"), ElementsAre(folder_ / "s.csv"));
  EXPECT_THAT(split_files(folder_ / "l"), ElementsAre(folder_ / "l-base.txt", folder_ / "l-novel.txt"));
}

TEST_F(SplitTest, ReadsWhatIsWritten) {
  const SplitTable written = read(split_csv({"a, \"b\"", "c"}, {Split::kNovel, Split::kVal}));
  EXPECT_THAT(written, UnorderedElementsAre(Pair("a, \"b\"", Split::kNovel), Pair("c", Split::kVal)));
}

TEST_F(SplitTest, ReadsThreeListsByTheirPrefixOrFolder) {
  const std::string base = "\xef\xbb\xbfgreat white shark  \tCarcharodon carcharias\n\n";  // with the byte order mark
                                                                                           // that some editors write
  put_lists("tiny-", base, "n02\r\n", "n03\ttrilobite");
  put_lists("lists/", base, "n02\r\n", "n03\ttrilobite");
  EXPECT_THAT(read_split(folder_ / "tiny"), three);
  EXPECT_THAT(read_split(folder_ / "lists"), three);
}

TEST_F(SplitTest, ReadsTheListsOfAnimalsWithAttributesInTheirFolder) {
  write_file(folder_ / "trainclasses.txt", "antelope\ngrizzly+bear\n");
  write_file(folder_ / "testclasses.txt", "seal\n");
  EXPECT_THAT(read_split(folder_.path()),
              UnorderedElementsAre(Pair("antelope", Split::kBase), Pair("grizzly+bear", Split::kBase),
                                   Pair("seal", Split::kNovel)));
  EXPECT_EQ(split_files(folder_.path()).size(), 2U);
}

TEST_F(SplitTest, NamesBothLinesOfAClassInTwoSplits) {
  EXPECT_THAT(
      error_of("class,split\nzebra,base\nhorse,val\nzebra,novel\n"),
      AllOf(HasSubstr("s.csv:4: class 'zebra'"), HasSubstr("'novel'"), HasSubstr("'base'"), HasSubstr("s.csv:2:")));
  put_lists("l-", "zebra\nhorse\n", "cow\n", "pig\nhorse\n");
  EXPECT_THAT(error_at(folder_ / "l"), AllOf(HasSubstr("l-novel.txt:2: class 'horse'"), HasSubstr("l-base.txt:2:")));
}

TEST_F(SplitTest, NamesBothLinesOfAClassListedTwice) {
  EXPECT_THAT(error_of("class,split\nzebra,base\nzebra,base\n"),
              AllOf(HasSubstr("s.csv:3: duplicate class 'zebra'"), HasSubstr("s.csv:2)")));
}

TEST_F(SplitTest, NamesTheLineOfAnUnknownSplitOrAnEmptyName) {
  EXPECT_THAT(error_of("class,split\nzebra,base\nhorse,unseen\n"),
              AllOf(HasSubstr("s.csv:3"), HasSubstr("'unseen'"), HasSubstr("base, val or novel")));
  EXPECT_THAT(error_of("class,split\n,base\n"), AllOf(HasSubstr("s.csv:2"), HasSubstr("empty")));
  // The fault is in the file, not on the command line.
  EXPECT_EQ(testing::usage_message_of([&] { read("class,split\nhorse,unseen\n"); }), "(no UsageError)");
}

TEST_F(SplitTest, RefusesASplitThatNamesNoClass) {
  EXPECT_THAT(error_of(""), HasSubstr("s.csv is empty"));
  EXPECT_THAT(error_of("class,split\n"), HasSubstr("s.csv names no class"));
  put_lists("l-", "\n", "", "  \n");
  EXPECT_THAT(error_at(folder_ / "l"), HasSubstr("/l names no class"));
}

TEST_F(SplitTest, ListsTheColumnsWhenOneIsMissing) {
  EXPECT_THAT(error_of("name,split\nzebra,base\n"),
              AllOf(HasSubstr("s.csv:1"), HasSubstr("'class'"), HasSubstr("name, split")));
  EXPECT_THAT(error_of("class,part\nzebra,base\n"),
              AllOf(HasSubstr("s.csv:1"), HasSubstr("'split'"), HasSubstr("class, part")));
}

TEST_F(SplitTest, SaysWhichFilesItLookedFor) {
  EXPECT_THAT(error_at(folder_ / "none"), AllOf(HasSubstr("none-base.txt"), HasSubstr("none-val.txt"),
                                                HasSubstr("none-novel.txt"), HasSubstr("class,split")));
  EXPECT_THAT(error_at(folder_.path()), HasSubstr((folder_ / "base.txt").string()));
  EXPECT_THAT(error_at(folder_ / std::string(300, 'x')), HasSubstr("no split at"));
}

TEST_F(SplitTest, ReadsThePublishedSplits) {
  REQUIRE_REAL_DATA();
  const auto counts = [](const SplitTable& table) {
    std::vector<int64_t> classes(3);
    for (const auto& [name, split] : table) ++classes[static_cast<size_t>(split)];
    return classes;
  };
  // Ravi & Larochelle 2017; Ren et al. 2018; the data's own description.
  EXPECT_EQ(counts(read_split(*testing::real_data() / "miniimagenet-split.csv")), (std::vector<int64_t>{64, 16, 20}));
  EXPECT_EQ(counts(read_split(*testing::real_data() / "tieredimagenet-split.csv")),
            (std::vector<int64_t>{351, 97, 160}));
  const SplitTable tiny = read_split(*testing::real_data() / "tiny-imagenet-100");
  EXPECT_EQ(counts(tiny), (std::vector<int64_t>{64, 16, 20}));
  EXPECT_EQ(tiny.at("n01768244"), Split::kNovel);  // trilobite
}

std::vector<Split> classes(int64_t base, int64_t val, int64_t novel) {
  std::vector<Split> all(static_cast<size_t>(base), Split::kBase);
  all.insert(all.end(), static_cast<size_t>(val), Split::kVal);
  all.insert(all.end(), static_cast<size_t>(novel), Split::kNovel);
  return all;
}

TEST(LeaveOutValidation, TakesAnEighthOfTheBaseClassesAndAtLeastFour) {
  for (const auto& [base, expected] : {std::pair{12, 4}, std::pair{32, 4}, std::pair{64, 8}}) {
    std::vector<Split> all = classes(base, 0, 5);
    EXPECT_EQ(leave_out_validation(all), expected);
    EXPECT_EQ(std::count(all.begin(), all.end(), Split::kVal), expected);
    EXPECT_EQ(std::count(all.begin(), all.end(), Split::kBase), base - expected);
    EXPECT_EQ(std::count(all.end() - 5, all.end(), Split::kNovel), 5);
    std::vector<Split> again = classes(base, 0, 0);
    leave_out_validation(again);
    EXPECT_TRUE(std::equal(again.begin(), again.end(), all.begin()));
  }
}

TEST(LeaveOutValidation, TakesNoneWhereThereAreSomeOrTooFew) {
  for (std::vector<Split> all : {classes(64, 1, 5), classes(11, 0, 5), classes(0, 0, 20)}) {
    const std::vector<Split> before = all;
    EXPECT_EQ(leave_out_validation(all), 0);
    EXPECT_EQ(all, before);
  }
}

}  // namespace
}  // namespace protocom
