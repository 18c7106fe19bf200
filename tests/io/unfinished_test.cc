#include "io/unfinished.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "io/files.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using protocom::testing::TempDir;

/// Returns the number of a process that has just ended.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  return child;
}

TEST(Unfinished, GoesWithItsObjectTogetherWithWhatALibraryPutBesideIt) {
  const TempDir folder;
  const fs::path path = folder / "a.npz.tmp-1-1";
  {
    const UnfinishedPath unfinished(path);
    write_file(path, "half");
    write_file(path.string() + ".Xy12Zw", "the library's");
    write_file(path.string() + "-journal", "SQLite's");
    write_file(path.string() + "0", "another file");
    write_file(path.string() + ".txt", "another one");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(path.string() + ".Xy12Zw"));
  EXPECT_FALSE(fs::exists(path.string() + "-journal"));
  EXPECT_TRUE(fs::exists(path.string() + "0"));
  EXPECT_TRUE(fs::exists(path.string() + ".txt"));
}

TEST(Unfinished, AFinalNameGoesWithoutTheUsersFilesBesideIt) {
  const TempDir folder;
  const fs::path path = folder / "birds.pcm";
  write_file(path.string() + ".backup", "the user's");
  {
    const UnfinishedPath unfinished(path);
    write_file(path, "half");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(path.string() + ".backup")) << "its end has as many letters as libzip's";
}

TEST(Unfinished, IsCalledByItsFinalName) {
  const TempDir folder;
  const fs::path path = temporary_beside(folder / "a.npz");
  EXPECT_EQ(meant_by(path), path) << "nobody makes it";
  const UnfinishedPath unfinished(path), other(folder / "b.npz");
  EXPECT_EQ(meant_by(path), folder / "a.npz");
  EXPECT_EQ(meant_by(folder / "b.npz"), folder / "b.npz");
}

TEST(Unfinished, StaysWhenItIsReleased) {
  const TempDir folder;
  {
    UnfinishedPath unfinished(folder / "a");
    write_file(unfinished.path(), "whole");
    unfinished.release();
  }
  EXPECT_TRUE(fs::exists(folder / "a"));
}

TEST(Unfinished, AllOfItIsClearedAwayWhenTheProgramEnds) {
  const TempDir folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const UnfinishedPath file(folder / "a.tmp-1"), part(folder / "images.part-1");
    write_file(file.path(), "half");
    write_file(part.path() / "0001.jpg", "one of many");
    remove_unfinished();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

/// Returns the name that a temporary file of `process` would have beside `path`.
std::string temporary_of(const fs::path& path, pid_t process) {
  std::string name = temporary_beside(path).filename().string();
  const std::string own = fmt::format("-{}-", ::getpid());
  return name.replace(name.rfind(own), own.size(), fmt::format("-{}-", process));
}

TEST(Unfinished, LeftoversOfKilledProcessesAreRemovedAndThoseOfLivingOnesAreNot) {
  const TempDir folder;
  const pid_t dead = dead_process();
  const std::string left = temporary_of(folder / "a.npz", dead), library = left + ".AbCdEf";
  const std::vector<std::string> others = {temporary_beside(folder / "a.npz").filename().string(),
                                           temporary_of(folder / "b.npz", dead), "a.npz"};
  write_file(folder / left, "");
  write_file(folder / library, "");
  for (const std::string& name : others) write_file(folder / name, "");
  remove_leftovers(folder / "a.npz");
  EXPECT_FALSE(fs::exists(folder / left));
  EXPECT_FALSE(fs::exists(folder / library));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder / name)) << name;
}

// Files beside it belong to their owner, however similar their names are to ours.
TEST(Unfinished, NothingThatIsNotProvablyOursIsRemoved) {
  const TempDir folder;
  const pid_t dead = dead_process();
  const std::string ours = temporary_of(folder / "b.npz", dead);
  std::string other_host = ours;
  other_host.replace(other_host.find(".tmp-") + 5, 1, "~");
  const std::vector<std::string> files = {"b.npz.part-11",
                                          "b.npz.part-" + std::to_string(dead),
                                          "b.npz.tmp-" + std::to_string(dead),
                                          "b.npz.tmp-" + std::to_string(dead) + "-0",
                                          other_host,
                                          ours + "0",
                                          ours + ".txt",
                                          ours + ".notes.md",
                                          ours.substr(0, ours.size() - 1)};
  for (const std::string& name : files) write_file(folder / name, "precious");
  const fs::path backup = folder / fmt::format("b.npz.tmp-{}-backup", dead), folder_of_ours = folder / ours;
  write_file(backup / "x", "precious");
  write_file(folder_of_ours / "x", "precious");
  remove_leftovers(folder / "b.npz");
  for (const std::string& name : files) EXPECT_TRUE(fs::exists(folder / name)) << name;
  EXPECT_TRUE(fs::exists(backup / "x"));
  EXPECT_TRUE(fs::exists(folder_of_ours / "x"));
}

TEST(Unfinished, ALinkInALeftoversPlaceIsLeftAlone) {
  const TempDir folder;
  const std::string name = temporary_of(folder / "a", dead_process());
  write_file(folder / "target", "precious");
  fs::create_symlink(folder / "target", folder / name);
  remove_leftovers(folder / "a");
  EXPECT_TRUE(fs::is_symlink(folder / name));
  EXPECT_EQ(read_file(folder / "target"), "precious");
}

TEST(Unfinished, TemporaryNamesCannotBeGuessedAndFitWhereTheFileItselfFits) {
  const TempDir folder;
  const fs::path one = temporary_beside(folder / "a"), other = temporary_beside(folder / "a");
  const auto random_part = [](const fs::path& path) {
    const std::string name = path.string();
    return name.substr(name.rfind('-') + 1);
  };
  EXPECT_EQ(random_part(one).size(), 16u);  // 64 bits
  EXPECT_NE(random_part(one), random_part(other));
  const fs::path longest = folder / std::string(255, 'n');
  write_file(longest, "as long as a name may be");
  EXPECT_LE(temporary_beside(longest).filename().string().size(), 248u) << "libzip adds seven letters";
  const fs::path left = folder / temporary_of(longest, dead_process());
  write_file(left, "");
  remove_leftovers(longest);
  EXPECT_FALSE(fs::exists(left));
}

}  // namespace
}  // namespace protocom
