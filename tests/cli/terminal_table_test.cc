#include "terminal_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/recognizers.h"
#include "support/environment.h"

namespace protocom::testing {
namespace {

using namespace protocom::cli;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> table_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream rows(text);
  for (std::string line; std::getline(rows, line);) lines.push_back(line);
  return lines;
}

/// Returns a path whose end matters, a name, a number, and two columns that may be dropped.
std::vector<TerminalColumn> some_columns() {
  return {{"image", 8, true},
          {"class", 6},
          {"p", 5, false, true},
          {"nearest", 8, true, false, 2},
          {"why", 8, false, false, 1}};
}

TEST(TerminalTable, ShowsEverythingWhereThereIsRoom) {
  const std::string table =
      terminal_table(some_columns(), {{{"a/1.jpg"}, {"cat"}, {"0.9"}, {"b/2.jpg"}, {"ears"}}}, {80, false});
  EXPECT_THAT(table_lines(table),
              ElementsAre("image    class    p  nearest  why", "a/1.jpg  cat    0.9  b/2.jpg  ears"));
}

TEST(TerminalTable, FitsTheTerminalByShorteningAndThenByLeavingOut) {
  const std::vector<std::vector<TerminalCell>> rows = {
      {{"a/long/folder/name/1.jpg"}, {"Laysan Albatross"}, {"0.987"}, {"another/folder/2.jpg"}, {"long wings +0.31"}}};
  for (const size_t width : {100U, 60U, 44U, 30U, 24U}) {
    for (const std::string& line : table_lines(terminal_table(some_columns(), rows, {width, false})))
      EXPECT_LE(display_width(line), width) << line;
  }
  const std::string narrow = terminal_table(some_columns(), rows, {60, false});
  EXPECT_THAT(narrow, HasSubstr("…"));
  EXPECT_THAT(narrow, HasSubstr("/1.jpg  ")) << "of a path the end is kept";
  EXPECT_THAT(narrow, HasSubstr("Laysan")) << "of a name the beginning";
  EXPECT_THAT(narrow, HasSubstr("0.987"));
  EXPECT_THAT(terminal_table(some_columns(), rows, {36, false}), Not(HasSubstr("nearest"))) << "missed least";
}

TEST(TerminalTable, HasColoursOnlyWhereTheyAreWanted) {
  const std::vector<std::vector<TerminalCell>> rows = {
      {{"1.jpg"}, {"cat", Tone::kStrong}, {"0.9", Tone::kGood}, {""}, {""}}};
  EXPECT_THAT(terminal_table(some_columns(), rows, {80, false}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(terminal_table(some_columns(), rows, {80, true}), HasSubstr("\x1b[32m0.9\x1b[0m"));
}

TEST(TerminalTable, LetsNoNameSteerTheTerminal) {
  const std::string table =
      terminal_table(some_columns(), {{{"\x1b[31mred\n.jpg"}, {"cat"}, {"1"}, {""}, {""}}}, {80, true});
  EXPECT_THAT(table, Not(HasSubstr("\x1b[31m")));
  EXPECT_EQ(table_lines(table).size(), 2U);
}

TEST(TerminalTable, CountsColumnsAndNotBytes) {
  EXPECT_EQ(display_width("größe"), 5U);
  EXPECT_EQ(display_width("猫"), 2U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(cut_to("größe", 3, false), "gr…");
  EXPECT_EQ(cut_to("größe", 3, true), "…ße");
  EXPECT_EQ(cut_to("猫猫猫", 4, false), "猫…");
  EXPECT_EQ(cut_to("red/blackbird_15.jpg", 13, true), "red/…d_15.jpg") << "names differ at either end";
}

TEST_F(Recognizers, AnswerInATableThatFitsColumnsAndIsWholeInAPipe) {
  const std::string image = create_with_classes("table.pcm", 2).back();
  const Outcome whole = protocom(folder_->path(), {"classify", "table.pcm", out("images").string()});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.out, Not(HasSubstr("…")));
  EXPECT_THAT(whole.out, HasSubstr(image.substr(image.rfind('/'))));
  const Environment columns("COLUMNS", "80");
  const Outcome outcome = protocom(folder_->path(), {"classify", "table.pcm", out("images").string()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const std::string& line : table_lines(outcome.out)) {
    if (line.find("nearest photo is of") != std::string::npos) continue;  // sentences below the table
    EXPECT_LE(display_width(line), 80U) << line;
  }
  EXPECT_THAT(outcome.out, HasSubstr("in "));
  EXPECT_THAT(outcome.out, HasSubstr("also possible"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
}

TEST_F(Recognizers, WatchAndSortSpeakAsClassifyDoes) {
  const std::string image = create_with_classes("speak.pcm", 2).back();
  fs::create_directories(*folder_ / "there");
  fs::copy_file(image, *folder_ / "there" / "1.jpg");
  const Outcome watched =
      protocom(folder_->path(), {"watch", "speak.pcm", "there", "--existing", "--most", "1", "--format", "table"});
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  const auto lines = table_lines(watched.out);
  ASSERT_EQ(lines.size(), 2U) << watched.out;
  EXPECT_EQ(lines[0].rfind("image ", 0), 0U);
  EXPECT_EQ(lines[1].rfind("1.jpg ", 0), 0U);
  const Outcome sorted = protocom(folder_->path(), {"sort", "speak.pcm", "there", "--out", "spoken"});
  ASSERT_EQ(sorted.exit_code, 0) << sorted.err;
  EXPECT_THAT(sorted.out, HasSubstr("class"));
  EXPECT_THAT(sorted.out, HasSubstr("lowest probability"));
  EXPECT_THAT(sorted.out, HasSubstr("there/1.jpg"));
}

}  // namespace
}  // namespace protocom::testing
