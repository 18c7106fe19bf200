#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "http/detail/connection.h"

namespace protocom::http {

/// All connections of a server. If there are as many as allowed, the one that has waited longest for its client makes
/// room, so that idle clients do not block others. Used only in the sockets' thread.
class Connections {
 public:
  void add(const std::shared_ptr<Connection>& item) { all_.push_back(item); }
  /// Number of connections.
  int64_t count();
  /// Number of connections waiting for that.
  [[nodiscard]] int64_t awaiting(Awaits what) const;
  /// Closes the connection that has waited longest for that; returns false if none does.
  bool end_longest(Awaits what);
  /// Lets each connection answer what was begun.
  void stop();
  /// Polls each for what causes no event.
  void look();

 private:
  std::vector<std::weak_ptr<Connection>> all_;
};

}  // namespace protocom::http
