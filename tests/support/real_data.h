#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace protocom::testing {

/// Returns the folder of real data named by PROTOCOM_DATA, if it is set.
inline std::optional<std::filesystem::path> real_data() {
  const char* folder = std::getenv("PROTOCOM_DATA");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return std::filesystem::path(folder);
}

}  // namespace protocom::testing

/// Skips a test, visibly, if there is no real data.
#define REQUIRE_REAL_DATA() \
  if (!::protocom::testing::real_data()) GTEST_SKIP() << "needs PROTOCOM_DATA, the folder of real data"
