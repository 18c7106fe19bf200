#include "protocom/core/foreign_code.h"

#include <array>
#include <atomic>
#include <cstdio>

namespace protocom {
namespace {

// A signal handler can neither lock nor follow a string that is being changed.
std::array<char, 512> foreign_name{};
std::atomic<int> foreign_depth{0};

}  // namespace

ForeignCode::ForeignCode(const std::string& file) {
  if (foreign_depth.fetch_add(1) == 0) std::snprintf(foreign_name.data(), foreign_name.size(), "%s", file.c_str());
}

ForeignCode::~ForeignCode() { foreign_depth.fetch_sub(1); }

const char* ForeignCode::running() { return foreign_depth.load() > 0 ? foreign_name.data() : nullptr; }

}  // namespace protocom
