#include "io/write_together.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Paths = std::vector<fs::path>;

size_t count_in(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(WriteTogether, PutsAllFilesInTheirPlaces) {
  const testing::TempDir folder;
  write_file(folder / "a", "before");
  write_together({folder / "a", folder / "new/b"}, [&](const Paths& files) {
    write_file(files.at(0), "first");
    EXPECT_EQ(read_file(folder / "a"), "before");
    write_file(files.at(1), "second");
  });
  EXPECT_EQ(read_file(folder / "a"), "first");
  EXPECT_EQ(read_file(folder / "new/b"), "second");
  EXPECT_EQ(count_in(folder.path()), 2U);
}

TEST(WriteTogether, LeavesAllAsTheyWereWhereOneFails) {
  const testing::TempDir folder;
  write_file(folder / "a", "before");
  const auto write = [&](const Paths& files) {
    write_file(files.at(0), "first");
    fail("the second cannot be made");
  };
  EXPECT_THAT(testing::message_of([&] {
                write_together({folder / "a", folder / "b"}, write);
              }),
              HasSubstr("the second cannot be made"));
  EXPECT_EQ(read_file(folder / "a"), "before");
  EXPECT_EQ(count_in(folder.path()), 1U);
  fs::create_directory(folder / "c");
  EXPECT_THAT(testing::message_of([&] {
                write_together({folder / "a", folder / "c"}, [](const Paths& files) { write_file(files.at(0), "x"); });
              }),
              HasSubstr("it is a folder"));
  EXPECT_EQ(read_file(folder / "a"), "before");
}

TEST(WriteTogether, PutsNoneInItsPlaceBeforeAllAreOnTheDisk) {
  const testing::TempDir folder;
  write_file(folder / "a", "before");
  const Paths paths = {folder / "a", folder / "b"};
  const auto write = [](const Paths& files) {
    for (const fs::path& file : files) write_file(file, "after");
  };
  EXPECT_THAT(testing::message_of([&] { write_together(paths, write, [] { fail("not now"); }); }),
              HasSubstr("not now"));
  EXPECT_EQ(read_file(folder / "a"), "before");
  EXPECT_EQ(count_in(folder.path()), 1U);
  write_together(paths, write, [&] {
    EXPECT_EQ(read_file(folder / "a"), "before");
    EXPECT_FALSE(fs::exists(folder / "b"));
    fs::remove(folder / "a");
  });
  EXPECT_EQ(read_file(folder / "a"), "after");
  EXPECT_EQ(read_file(folder / "b"), "after");
}

TEST(WriteTogether, PutsTheLastInItsPlaceFirst) {
  const testing::TempDir folder;
  const auto write = [&](const Paths& files) {
    for (const fs::path& file : files) write_file(file, "after");
    fs::create_directories(folder / "b/in the way");
  };
  EXPECT_THAT(testing::message_of([&] {
                write_together({folder / "a", folder / "b", folder / "c"}, write);
              }),
              HasSubstr("cannot write"));
  EXPECT_FALSE(fs::exists(folder / "a"));
  EXPECT_EQ(read_file(folder / "c"), "after");
}

}  // namespace
}  // namespace protocom
