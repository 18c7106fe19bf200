#include "shared_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;
using namespace protocom::cli;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Lines of three photos left by a run.
class SharedLinesLeft : public ::testing::Test {
 protected:
  void SetUp() override {
    SharedLines lines(ProcessGroup::single(), job(), files_);
    for (size_t i = 0; i < files_.size(); ++i) lines.add(i, R"({"answer":"okapi"})");
  }

  [[nodiscard]] LinesJob job() const { return {folder_ / "parts", {{"top", 5}}, 1, ResumeLines::kYes}; }

  /// Returns the photos that the next run computes again.
  [[nodiscard]] std::vector<fs::path> computed_again() const {
    return SharedLines(ProcessGroup::single(), job(), files_).own_files();
  }

  void change(const std::string& from, const std::string& to) const {
    const fs::path part = folder_ / "parts" / "1-0.jsonl";
    std::string text = read_file(part);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    write_file(part, text.replace(at, from.size(), to));
  }

  TempDir folder_;
  std::vector<fs::path> files_ = {"a.jpg", "b.jpg", "c.jpg"};
};

TEST_F(SharedLinesLeft, CountWhereNobodyChangedThem) { EXPECT_THAT(computed_again(), IsEmpty()); }

TEST_F(SharedLinesLeft, AreMadeAnewWhereTheirAnswerWasChanged) {
  change("okapi", "zebra");
  EXPECT_THAT(computed_again(), ElementsAre(files_[0]));
}

TEST_F(SharedLinesLeft, AreMadeAnewWhereTheyAreSaidToBeOfAnotherPhoto) {
  change("\"number\":1", "\"number\":2");
  EXPECT_THAT(computed_again(), ElementsAre(files_[1]));
}

TEST_F(SharedLinesLeft, AreDeletedAndNothingElse) {
  write_file(folder_ / "parts" / "mine.jsonl", "mine");
  LinesJob anew = job();
  anew.resume = ResumeLines::kNo;
  EXPECT_THAT(message_of([&] { SharedLines(ProcessGroup::single(), anew, files_); }),
              HasSubstr("parts contains mine.jsonl, which is not part of this job"));
  SharedLines lines(ProcessGroup::single(), job(), files_);
  lines.join();
  lines.remove();
  EXPECT_EQ(read_file(folder_ / "parts" / "mine.jsonl"), "mine");
  EXPECT_FALSE(fs::exists(folder_ / "parts" / "1-0.jsonl"));
}

TEST_F(SharedLinesLeft, AreNotLookedForBehindALink) {
  fs::rename(folder_ / "parts", folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "parts");
  EXPECT_THAT(message_of([&] { SharedLines(ProcessGroup::single(), job(), files_); }),
              HasSubstr("parts is a symbolic link"));
  EXPECT_TRUE(fs::exists(folder_ / "elsewhere" / "1-0.jsonl"));
}

TEST_F(SharedLinesLeft, AreNotedInARegularFile) {
  fs::create_symlink(folder_ / "elsewhere", folder_ / "parts" / "places.jsonl");
  const SharedLines lines(ProcessGroup::single(), job(), files_);
  EXPECT_THAT(message_of([&] { static_cast<void>(lines.note()); }), HasSubstr("places.jsonl is not a regular file"));
}

TEST_F(SharedLinesLeft, AreMadeAnewWhereTheyHaveNoHash) {
  change("{\"hash\":\"", "{\"trash\":\"");
  EXPECT_THAT(computed_again(), ElementsAre(files_[0]));
}

}  // namespace
}  // namespace protocom::testing
