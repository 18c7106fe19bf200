#include "http/detail/connections.h"

#include <algorithm>

namespace protocom::http {

int64_t Connections::count() {
  const auto gone = [](const std::weak_ptr<Connection>& item) {
    const auto connection = item.lock();
    return !connection || connection->awaits() == Awaits::kClosed;
  };
  all_.erase(std::remove_if(all_.begin(), all_.end(), gone), all_.end());
  return static_cast<int64_t>(all_.size());
}

int64_t Connections::awaiting(Awaits what) const {
  return std::count_if(all_.begin(), all_.end(), [&](const std::weak_ptr<Connection>& item) {
    const auto connection = item.lock();
    return connection && connection->awaits() == what;
  });
}

bool Connections::end_longest(Awaits what) {
  std::shared_ptr<Connection> longest;
  for (const auto& item : all_) {
    const auto connection = item.lock();
    if (!connection || connection->awaits() != what) continue;
    if (!longest || connection->since() < longest->since()) longest = connection;
  }
  if (longest) longest->evict();
  return longest != nullptr;
}

void Connections::stop() {
  for (const auto& item : all_) {
    if (const auto connection = item.lock()) connection->stop();
  }
}

void Connections::look() {
  const auto now = Connection::Clock::now();
  for (const auto& item : all_) {
    if (const auto connection = item.lock()) connection->poll(now);
  }
}

}  // namespace protocom::http
