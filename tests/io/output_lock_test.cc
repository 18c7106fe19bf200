#include "io/output_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/files.h"
#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

using ::testing::HasSubstr;

TEST(OutputLock, KeepsASecondOneOutAndLeavesNothing) {
  const testing::TempDir folder;
  const auto output = folder / "model.npz";
  {
    const OutputLock first(output);
    EXPECT_THAT(testing::message_of([&] { OutputLock second(output); }),
                HasSubstr("another protocom process is writing"));
    const OutputLock other(folder / "other.npz");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  const OutputLock again(output);
}

TEST(OutputLock, WhatAKilledProcessLeftKeepsNobodyOut) {
  const testing::TempDir folder;
  write_file(folder / "model.npz.lock", "");
  const OutputLock lock(folder / "model.npz");
}

TEST(OutputLock, AFileOfTheUserByThatNameIsRefusedAndStays) {
  const testing::TempDir folder;
  write_file(folder / "poetry.lock", "[[package]]");
  EXPECT_THAT(testing::message_of([&] { OutputLock lock(folder / "poetry"); }), HasSubstr("poetry.lock"));
  EXPECT_EQ(read_file(folder / "poetry.lock"), "[[package]]");
}

}  // namespace
}  // namespace protocom
