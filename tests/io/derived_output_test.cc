#include "io/derived_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/message_of.h"
#include "support/temp_dir.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(DerivedOutput, IsNoLinkWhetherItLeadsSomewhereOrNot) {
  const testing::TempDir folder;
  const auto error = [&](const char* name) { return testing::message_of([&] { refuse_link(folder / name); }); };
  std::ofstream(folder / "precious") << "x";
  fs::create_symlink(folder / "precious", folder / "a.pcm.index");
  fs::create_symlink(folder / "nothing", folder / "b.pcm.index");
  EXPECT_EQ(error("precious"), "(no Error)");
  EXPECT_EQ(error("nothing"), "(no Error)");
  EXPECT_THAT(error("a.pcm.index"), HasSubstr("a.pcm.index: it is a symbolic link"));
  EXPECT_THAT(error("b.pcm.index"), HasSubstr("b.pcm.index: it is a symbolic link"));
}

}  // namespace
}  // namespace protocom
