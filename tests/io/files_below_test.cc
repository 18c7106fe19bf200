#include "io/files_below.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

TEST(FilesBelow, FollowsLinksButNeverUpwards) {
  const testing::TempDir folder;
  write_file(folder / "photos/a/1.jpg", "1");
  write_file(folder / "elsewhere/2.jpg", "2");
  fs::create_directory_symlink(folder / "elsewhere", folder / "photos/b");
  fs::create_directory_symlink("..", folder / "photos/a/loop");
  fs::create_directory_symlink(folder / "photos", folder / "elsewhere/back");
  std::vector<std::string> found;
  for (const auto& file : files_below(folder / "photos"))
    found.push_back(file.path().lexically_relative(folder / "photos").string());
  EXPECT_THAT(found, ::testing::UnorderedElementsAre("a/1.jpg", "b/2.jpg"));
  EXPECT_THAT(testing::message_of([&] { files_below(folder / "nowhere"); }), ::testing::HasSubstr("cannot list"));
}

TEST(FilesBelow, EndsThoughLinksMultiply) {
  const testing::TempDir folder;
  constexpr int kFolders = 30;  // 2^29 paths
  for (int i = 0; i < kFolders; ++i) {
    fs::create_directory(folder / std::to_string(i));
    for (const char* name : {"a", "b"})
      fs::create_directory_symlink("../" + std::to_string(i + 1), folder / std::to_string(i) / name);
  }
  EXPECT_THAT(testing::message_of([&] { files_below(folder / "0"); }), ::testing::HasSubstr("20,000 links"));
}

}  // namespace
}  // namespace protocom
