#pragma once

namespace protocom {

/// While one lives, what this thread logs is dropped: for a look at a file that is read again when it is used.
class Quiet {
 public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  [[nodiscard]] static bool is_on();
};

}  // namespace protocom
