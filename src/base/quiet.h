#pragma once

namespace protocom {

/// Drops what this thread logs during its lifetime: for inspecting a file that is read again when it is used.
class Quiet {
 public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  [[nodiscard]] static bool is_on();
};

}  // namespace protocom
