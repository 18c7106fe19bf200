#include "protocom/core/unfinished.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "protocom/core/files.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using protocom::testing::TempDir;

/// The number of a process that has just ended.
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
    write_file(path.string() + "0", "another file");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(path.string() + ".Xy12Zw"));
  EXPECT_TRUE(fs::exists(path.string() + "0"));
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

TEST(Unfinished, LeftoversOfKilledProcessesAreRemovedAndThoseOfLivingOnesAreNot) {
  const TempDir folder;
  const std::string dead = std::to_string(dead_process()), living = std::to_string(::getpid());
  for (const std::string& name :
       {"a.npz.tmp-" + dead + "-0", "a.npz.tmp-" + dead + "-1.AbCdEf", "a.npz.part-" + dead + "/x",
        "a.npz.tmp-" + living + "-0", "b.npz.tmp-" + dead + "-0", std::string("a.npz.tmp-x"), std::string("a.npz")})
    write_file(folder / name, "");
  remove_leftovers(folder / "a.npz");
  EXPECT_FALSE(fs::exists(folder / ("a.npz.tmp-" + dead + "-0")));
  EXPECT_FALSE(fs::exists(folder / ("a.npz.tmp-" + dead + "-1.AbCdEf")));
  EXPECT_FALSE(fs::exists(folder / ("a.npz.part-" + dead)));
  EXPECT_TRUE(fs::exists(folder / ("a.npz.tmp-" + living + "-0")));
  EXPECT_TRUE(fs::exists(folder / ("b.npz.tmp-" + dead + "-0")));
  EXPECT_TRUE(fs::exists(folder / "a.npz.tmp-x"));
  EXPECT_TRUE(fs::exists(folder / "a.npz"));
}

}  // namespace
}  // namespace protocom
