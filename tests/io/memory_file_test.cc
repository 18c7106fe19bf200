#include "io/memory_file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace protocom {
namespace {

TEST(MemoryFile, IsReadAsAFileAndSaysWhatItIs) {
  MemoryFile file("birds.pcm, its backbone (deleted)");
  file.append("one ");
  file.append("two");
  std::string first, second;
  std::ifstream(file.path()) >> first >> second;
  EXPECT_EQ(first + second, "onetwo");
  EXPECT_EQ(shown(file.path()), "birds.pcm, its backbone (deleted)");
}

TEST(MemoryFile, HasTheEndOfALongName) {
  const MemoryFile file(std::string(300, 'n') + ", its backbone");
  EXPECT_EQ(shown(file.path()), std::string(249 - 14, 'n') + ", its backbone");
}

TEST(MemoryFile, OtherPathsAreShownAsTheyAre) { EXPECT_EQ(shown("some/where.npz"), "some/where.npz"); }

}  // namespace
}  // namespace protocom
