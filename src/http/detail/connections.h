#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "http/detail/connection.h"

namespace protocom::http {

/// All connections of a server. Where there are as many as may be, the one whose client has let it wait longest makes
/// room, so that clients that send nothing block no others. Used in the sockets' thread alone.
class Connections {
 public:
  void add(const std::shared_ptr<Connection>& item) { all_.push_back(item); }
  /// How many there are.
  int64_t count();
  /// How many await that.
  [[nodiscard]] int64_t awaiting(Awaits what) const;
  /// Ends the one that has awaited that longest; false if none does.
  bool end_longest(Awaits what);
  /// Lets each answer what was begun.
  void stop();
  /// Polls each for what causes no event.
  void look();

 private:
  std::vector<std::weak_ptr<Connection>> all_;
};

}  // namespace protocom::http
