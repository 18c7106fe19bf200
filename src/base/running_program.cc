#include "base/running_program.h"

#include <array>
#include <atomic>
#include <cstdio>

namespace protocom {
namespace {

// A signal handler can neither lock nor read a string that is being changed.
std::array<char, 512> running_file{};
std::atomic<int> depth{0};

}  // namespace

RunningProgram::RunningProgram(const std::string& file) {
  if (depth.fetch_add(1) == 0) std::snprintf(running_file.data(), running_file.size(), "%s", file.c_str());
}

RunningProgram::~RunningProgram() { depth.fetch_sub(1); }

const char* RunningProgram::running() { return depth.load() > 0 ? running_file.data() : nullptr; }

}  // namespace protocom
