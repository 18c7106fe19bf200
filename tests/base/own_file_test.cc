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

/// Runs the test above in a folder, by a program that is started as `name`; its exit code.
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

// The loader knows a program by the name it was started as: libraries beside a file of that name in the current folder,
// which may be anybody's, would be loaded.
TEST(OwnFile, IsNotThatOfTheSameNameInTheCurrentFolder) {
  const TempDir folder;
  EXPECT_EQ(exit_code_in(folder.path(), "protocom"), 0) << "no such file is there";
  std::ofstream(folder / "protocom") << "x";
  EXPECT_EQ(exit_code_in(folder.path(), "protocom"), 0);
}

}  // namespace
}  // namespace protocom::testing
