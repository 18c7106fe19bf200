#pragma once
#include <memory>
#include <string>

#include "protocom/error.h"
#include "protocom/server_options.h"

namespace protocom::v0 {

/// Serves a recognizer over HTTP, with a page for the browser, from inside a program. It starts when constructed and
/// has its own threads. port() and stop() may be called from any thread.
class PROTOCOM_API Server {
 public:
  /// Throws UsageError for an address other than loopback without keys, a certificate without its key and limits or
  /// numbers out of range; Error if the address is taken; and what Recognizer::open throws.
  explicit Server(const std::string& recognizer, const ServerOptions& options = {});
  /// Calls stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const;
  /// Stops accepting requests, answers the accepted ones, and ends.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom::v0
