#include "io/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "support/logged.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CsvTest : public ::testing::Test {
 protected:
  CsvTable read(const std::string& text) const {
    std::ofstream(folder_ / "t.csv", std::ios::binary) << text;
    return read_csv(folder_ / "t.csv");
  }
  std::string error_of(const std::string& text) const {
    return testing::message_of([&] { read(text); });
  }

  testing::TempDir folder_;
};

TEST_F(CsvTest, ReadsAHeaderAndRowsWithTheirLines) {
  const CsvTable table = read("class,split\nzebra,base\n\nhorse,novel");
  EXPECT_THAT(table.header, ElementsAre("class", "split"));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("zebra", "base"));
  EXPECT_THAT(table.rows[1].cells, ElementsAre("horse", "novel"));
  EXPECT_THAT(table.where(table.rows[0]), EndsWith("t.csv:2"));
  EXPECT_THAT(table.where(table.rows[1]), EndsWith("t.csv:4"));
}

TEST_F(CsvTest, TakesQuotedCellsAsRfc4180Says) {
  const CsvTable table = read("a,b,c\n\"x, y\",\"he said \"\"no\"\"\",\"\"\n,\"\"\"\",z\n");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("x, y", "he said \"no\"", ""));
  EXPECT_THAT(table.rows[1].cells, ElementsAre("", "\"", "z"));
}

TEST_F(CsvTest, KeepsQuotesInsideAnUnquotedCell) {
  EXPECT_THAT(read("a,b\n5\" long,x\n").rows[0].cells, ElementsAre("5\" long", "x"));
}

TEST_F(CsvTest, ReadsLineEndsWithinQuotesAndCountsTheirLines) {
  const CsvTable table = read("a,b\n\"one\n\ntwo\",x\nlast,y\n");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("one\n\ntwo", "x"));
  EXPECT_EQ(table.rows[0].line, 2);
  EXPECT_EQ(table.rows[1].line, 5);
}

TEST_F(CsvTest, TakesTheSeparatorOfItsHeader) {
  EXPECT_THAT(read("class;beak, bill;tail\ncat;0,5;\n").rows.at(0).cells, ElementsAre("cat", "0,5", ""));
  EXPECT_THAT(read("class\tsplit\na,b\tbase\n").rows.at(0).cells, ElementsAre("a,b", "base"));
  EXPECT_THAT(read("class,\"x;y;z\"\na;b,1\n").rows.at(0).cells, ElementsAre("a;b", "1"));
}

TEST_F(CsvTest, SkipsRowsWithoutAnyText) {
  const CsvTable table = read("a,b,c\n1,2,3\n,,\n , ,\n4,5,6\n,,,,\n");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[1].line, 5);
}

// Otherwise the mark becomes part of the first column's name (pandas-dev/pandas issue 13497).
TEST_F(CsvTest, DropsAByteOrderMarkAndCarriageReturns) {
  const CsvTable table = read(
      "\xef\xbb\xbf"
      "class,split\r\nzebra,base\r\n");
  EXPECT_EQ(table.column("class"), 0u);
  EXPECT_EQ(table.column("split"), 1u);
  EXPECT_THAT(table.rows[0].cells, ElementsAre("zebra", "base"));
}

TEST_F(CsvTest, SaysOnceWhereAFileIsNotUtf8AndTakesItsBytes) {
  const testing::Logged heard;
  EXPECT_THAT(read("class,split\nG\xc3\xa4nse,base\n").rows[0].cells, ElementsAre("G\xc3\xa4nse", "base"));
  EXPECT_EQ(heard.text(), "");
  const CsvTable table = read("class,split\ncat,base\nG\xe4nse,base\nM\xf6we,novel\n");
  EXPECT_THAT(table.rows[1].cells, ElementsAre("G\xe4nse", "base"));
  EXPECT_THAT(table.rows[2].cells, ElementsAre("M\xf6we", "novel"));
  EXPECT_THAT(heard.text(), AllOf(HasSubstr("t.csv:3 is not UTF-8"), HasSubstr("save it as \"CSV UTF-8\""),
                                  Not(HasSubstr("t.csv:4"))));
}

TEST_F(CsvTest, NamesTheLineThatIsNotUtf8WithinQuotes) {
  const testing::Logged heard;
  read("a,b\n\"one\ntw\xf6\",x\n");
  EXPECT_THAT(heard.text(), HasSubstr("t.csv:3 is not UTF-8"));
}

TEST_F(CsvTest, RefusesUtf16) {
  const testing::Logged heard;
  for (const std::string& text : {std::string("\xff\xfex\0,\0y\0\n\0", 10), std::string("\xfe\xff\0x\0,\0y\0\n", 10)}) {
    EXPECT_THAT(error_of(text),
                AllOf(HasSubstr("t.csv begins with"), HasSubstr("UTF-16"), HasSubstr("save it as \"CSV UTF-8\"")));
  }
  EXPECT_EQ(heard.text(), "");
}

TEST_F(CsvTest, ReadsGzip) {
  const gzFile file = gzopen((folder_ / "t.csv.gz").c_str(), "wb");
  gzputs(file, "a,b\n1,2\n");
  gzclose(file);
  EXPECT_THAT(read_csv(folder_ / "t.csv.gz").rows[0].cells, ElementsAre("1", "2"));
}

TEST_F(CsvTest, ReadsAHeaderWithNoRows) { EXPECT_THAT(read("a,b\n").rows, IsEmpty()); }

TEST_F(CsvTest, NamesTheLineOfARowWithTooFewOrTooManyCells) {
  EXPECT_THAT(error_of("a,b\n1,2\n3\n"), HasSubstr("t.csv:3: 1 cells, the header has 2"));
  EXPECT_THAT(error_of("a,b\n\"1\n1\",2\n3,4,5\n"), HasSubstr("t.csv:4: 3 cells, the header has 2"));
}

TEST_F(CsvTest, NamesTheLineWhereAQuoteIsOpenedAndNeverClosed) {
  EXPECT_THAT(error_of("a,b\n1,2\n3,\"4\n5,6\n"), AllOf(HasSubstr("t.csv:3:"), HasSubstr("no closing quote")));
}

// For Excel in a locale of decimal commas; "sep=;" sets its separator (superuser.com/questions/606272).
TEST_F(CsvTest, TheSeparatorThatTheFirstLineSaysCounts) {
  const CsvTable table = read("sep=;\nclass,attribute;weight\na,b;1\n");
  EXPECT_THAT(table.header, ElementsAre("class,attribute", "weight"));
  EXPECT_THAT(table.rows.front().cells, ElementsAre("a,b", "1"));
}

TEST_F(CsvTest, SeparatorsBehindTheLastCellAreNoCells) {
  const CsvTable table = read("class,attribute\nzebra,stripes,,\n");
  EXPECT_THAT(table.rows.front().cells, ElementsAre("zebra", "stripes"));
}

TEST_F(CsvTest, WorkbooksPagesAndPointersAreNamedAsThatWithWhatToDo) {
  const auto error = [this](const std::string& text) { return testing::message_of([&] { read(text); }); };
  EXPECT_THAT(error(std::string("PK\x03\x04\x14\0\x06\0", 8)), HasSubstr("save the sheet as \"CSV UTF-8\""));
  EXPECT_THAT(error("\xd0\xcf\x11\xe0\xa1\xb1\n"), HasSubstr("save the sheet as \"CSV UTF-8\""));
  EXPECT_THAT(error("<!DOCTYPE html>\n<html></html>\n"), HasSubstr("a page of HTML"));
  EXPECT_THAT(error("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
}

TEST_F(CsvTest, RefusesAnEmptyFile) {
  EXPECT_THAT(error_of(""), HasSubstr("t.csv is empty"));
  EXPECT_THAT(error_of("\n\r\n"), HasSubstr("t.csv is empty"));
}

TEST_F(CsvTest, ListsTheColumnsWhenOneIsMissing) {
  const CsvTable table = read("class,Split,note\n");
  EXPECT_THAT(testing::message_of([&] { (void)table.column("split"); }),
              AllOf(HasSubstr("t.csv:1"), HasSubstr("no column 'split'"), HasSubstr("class, Split, note")));
}

TEST_F(CsvTest, QuotesCellsOnlyWhereItMust) {
  EXPECT_EQ(csv_cell("plain text"), "plain text");
  EXPECT_EQ(csv_cell(""), "");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a;b"), "\"a;b\"") << "its header would be taken for one of semicolons";
  EXPECT_EQ(csv_cell("5\""), "\"5\"\"\"");
}

TEST_F(CsvTest, ATextThatASpreadsheetWouldRunIsWrittenBehindAnApostrophe) {
  EXPECT_EQ(csv_cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(csv_cell("@sum(1,2)"), "\"'@sum(1,2)\"");
  EXPECT_EQ(csv_cell("-ness"), "'-ness");
  EXPECT_EQ(csv_cell("-"), "-") << "a sign alone";
  EXPECT_EQ(csv_cell("rock 'n' roll"), "rock 'n' roll");
  EXPECT_EQ(csv_cell("'tis"), "'tis");
}

TEST_F(CsvTest, ReadsBackEveryCellThatItQuotes) {
  const std::vector<std::string> cells = {"plain",    "a,b",  "\"",  "\"\"x\"", "two\nlines", ",",   "\n", "  spaces  ",
                                          "\xc3\xa9", "=1+1", "'=1", "''@",     "'quoted'",   "\tx", "-"};
  std::string line;
  std::string header;
  for (const auto& cell : cells) {
    line += (line.empty() ? "" : ",") + csv_cell(cell);
    header += header.empty() ? "h" : ",h";
  }
  EXPECT_EQ(read(header + "\n" + line + "\n").rows.at(0).cells, cells);
}

}  // namespace
}  // namespace protocom
