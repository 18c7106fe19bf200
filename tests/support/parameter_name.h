#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace protocom::testing {

/// Converts a text parameter of a test to the form that Google Test allows in the test's name.
inline std::string parameter_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

}  // namespace protocom::testing
