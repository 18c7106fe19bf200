#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace protocom::testing {

/// Runs a Python program in `folder` and returns its output, errors too: an independent reader and writer of the
/// formats.
inline std::string run_python(const std::filesystem::path& folder, const std::string& program) {
  std::ofstream(folder / "program.py") << program;
  const std::string command = "cd '" + folder.string() + "' && /usr/bin/python3 program.py 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot run " + command;
  std::string output;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  pclose(pipe);
  return output;
}

inline bool has_numpy() {
  static const bool found = std::system("/usr/bin/python3 -c 'import numpy' > /dev/null 2>&1") == 0;
  return found;
}

}  // namespace protocom::testing

/// Skips a test, visibly, if NumPy is missing.
#define REQUIRE_NUMPY() \
  if (!::protocom::testing::has_numpy()) GTEST_SKIP() << "needs NumPy in /usr/bin/python3 (apt install python3-numpy)"
