// The code that a phone scans from the terminal.
#include "http/qr_code.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/error.h"

namespace protocom::testing {
namespace {

/// Returns the modules of drawn lines, true for dark ones, two rows per line.
std::vector<std::vector<bool>> modules(const std::string& drawn) {
  std::vector<std::vector<bool>> rows;
  std::istringstream lines(drawn);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find('m') + 1;
    const size_t end = line.rfind("\033[0m");
    std::vector<bool> upper, lower;
    for (size_t at = begin; at < end;) {
      const std::string block = line[at] == ' ' ? " " : line.substr(at, 3);
      upper.push_back(block == "█" || block == "▀");
      lower.push_back(block == "█" || block == "▄");
      at += block.size();
    }
    rows.push_back(upper);
    rows.push_back(lower);
  }
  return rows;
}

/// Returns whether there is a finder pattern as in three corners by ISO/IEC 18004: a dark frame of 7 x 7, a light one,
/// 3 x 3 dark.
bool has_finder(const std::vector<std::vector<bool>>& rows, size_t top, size_t left) {
  for (size_t i = 0; i < 7; ++i)
    for (size_t j = 0; j < 7; ++j) {
      const size_t from_edge = std::min({i, j, 6 - i, 6 - j});
      if (rows[top + i][left + j] != (from_edge != 1)) return false;
    }
  return true;
}

TEST(QrCode, HasAMarginAndFinderPatternsInThreeCorners) {
  const auto rows = modules(http::terminal_qr_code("https://192.168.1.20:8080/#key=pcm_0123456789abcdef"));
  const size_t width = rows[0].size() - 8;
  EXPECT_EQ(width % 4, 1U) << "versions have 17 + 4 v modules";
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(rows[i], ::testing::Each(false));
    EXPECT_THAT(rows[4 + width + i], ::testing::Each(false));
    for (size_t row = 0; row < rows.size(); ++row) EXPECT_FALSE(rows[row][i] || rows[row][4 + width + i]);
  }
  EXPECT_TRUE(has_finder(rows, 4, 4));
  EXPECT_TRUE(has_finder(rows, 4, 4 + width - 7));
  EXPECT_TRUE(has_finder(rows, 4 + width - 7, 4));
  EXPECT_FALSE(has_finder(rows, 4 + width - 7, 4 + width - 7)) << "an upright code";
}

TEST(QrCode, OfAnotherTextIsAnother) {
  EXPECT_NE(http::terminal_qr_code("https://192.168.1.20:8080/"), http::terminal_qr_code("https://192.168.1.21:8080/"));
  EXPECT_NO_THROW(http::terminal_qr_code(std::string(2953, '\xe1')));
  EXPECT_THROW(http::terminal_qr_code(std::string(2954, '\xe1')), Error);
  EXPECT_THROW(http::terminal_qr_code(""), Error);
}

}  // namespace
}  // namespace protocom::testing
