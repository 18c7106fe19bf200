#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "api/world.h"
#include "protocom/error.h"

namespace protocom::testing {

/// Provides a temporary folder for each test.
class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "protocom-front-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

/// Returns the message of the public Error that `call` throws, or "(no Error)"; "(another exception)" for any other.
template <typename Call>
std::string said_by(const Call& call) {
  try {
    call();
  } catch (const protocom::Error& error) {
    return error.what();
  } catch (...) {
    return "(another exception)";
  }
  return "(no Error)";
}

/// Returns features of three classes on the axes of four dimensions, four images each, class after class.
inline std::vector<float> axes() {
  std::vector<float> values;
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) values.push_back((j == k ? 5.0F : 0.0F) + 0.1F * static_cast<float>((i * 3 + j) % 5));
    }
  }
  return values;
}

/// Returns their classes.
inline std::vector<int64_t> classes_of_axes() { return {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}; }

/// Returns one query per class.
inline std::vector<float> queries_of_axes() { return {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, 0}; }

}  // namespace protocom::testing
