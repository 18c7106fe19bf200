#pragma once
#include <functional>
#include <string>

#include "base/array.h"

namespace protocom {

/// Called if another process is lost while this one computes or hangs; from a separate thread.
using OnLoss = std::function<void(const std::string& sentence)>;

/// How a process reaches the others of its job: implemented in a plug-in for a ProcessGroup of several. The operations
/// are the group's, which documents them.
class Connection {
 public:
  Connection() = default;
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual Array gather_rows(const Array& rows) = 0;
  virtual std::string broadcast(const std::string& text) = 0;
  virtual void barrier() = 0;

  virtual void announce_failure(const std::string& reason) = 0;
  virtual void leave() = 0;
  [[nodiscard]] virtual bool broken() const = 0;
};

}  // namespace protocom
