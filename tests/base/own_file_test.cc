#include "base/own_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "support/temp_dir.h"

namespace protocom::testing {
namespace {

namespace fs = std::filesystem;

TEST(OwnFile, IsTheFileThatRuns) { EXPECT_EQ(own_file().string(), fs::canonical("/proc/self/exe").string()); }

/// Runs the test above in a folder, by a program that is started as `name`; returns its exit code.
int exit_code_in(const fs::path& folder, const char* name) {
  const fs::path program = fs::canonical("/proc/self/exe");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool there = ::chdir(folder.c_str()) == 0;
    if (there) ::execl(program.c_str(), name, "--gtest_filter=OwnFile.IsTheFileThatRuns", nullptr);
    ::_exit(EXIT_FAILURE);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// The loader identifies a program by the name that it was started with: libraries beside a file of that name in the
// current folder, which may be anybody's, would be loaded.
TEST(OwnFile, IsNotThatOfTheSameNameInTheCurrentFolder) {
  const TempDir folder;
  EXPECT_EQ(exit_code_in(folder.path(), "protocom"), 0) << "no such file is there";
  std::ofstream(folder / "protocom") << "x";
  EXPECT_EQ(exit_code_in(folder.path(), "protocom"), 0);
}

class LibraryBeside : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    fs::create_directories(library_.parent_path());
    std::ofstream(library_) << "x";
  }
  void give_away(const fs::path& path) {
    constexpr uid_t kAnother = 12345;
    ASSERT_EQ(::lchown(path.c_str(), kAnother, kAnother), 0);
  }
  const TempDir folder_;
  const fs::path library_ = folder_ / "protocom/library.so";
};

TEST_F(LibraryBeside, IsLoadedWhereItIsOfTheUser) {
  EXPECT_EQ(trusted_library(library_), fs::canonical(library_));
  EXPECT_EQ(trusted_library(folder_ / "nowhere.so"), "");
}

TEST_F(LibraryBeside, IsNotLoadedWhereAnotherUserMadeIt) {
  give_away(library_);
  EXPECT_EQ(trusted_library(library_), "");
}

TEST_F(LibraryBeside, IsNotLoadedFromAFolderOfAnotherUser) {
  give_away(library_.parent_path());
  EXPECT_EQ(trusted_library(library_), "") << "who can replace it";
  const fs::path link = folder_ / "library.so";
  fs::create_symlink(library_, link);
  EXPECT_EQ(trusted_library(link), "");
}

}  // namespace
}  // namespace protocom::testing
