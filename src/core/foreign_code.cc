#include "protocom/core/foreign_code.h"

#include <array>
#include <atomic>
#include <cstdio>

namespace protocom {
namespace {

// A signal handler can neither lock nor follow a string that is being changed.
std::array<char, 512> name{};
std::atomic<int> depth{0};

}  // namespace

ForeignCode::ForeignCode(const std::string& file) {
  if (depth.fetch_add(1) == 0) std::snprintf(name.data(), name.size(), "%s", file.c_str());
}

ForeignCode::~ForeignCode() { depth.fetch_sub(1); }

const char* ForeignCode::running() { return depth.load() > 0 ? name.data() : nullptr; }

}  // namespace protocom
