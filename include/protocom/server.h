#pragma once
#include <memory>
#include <string>

#include "protocom/error.h"
#include "protocom/server_options.h"

namespace protocom::v0 {

/// A recognizer behind HTTP, with a page for the browser, inside a program. It serves from its construction on, on
/// its own threads. port() and stop() may be called from any thread.
class PROTOCOM_API Server {
 public:
  /// Throws UsageError for another address than a loopback one without keys, a certificate without its key and a
  /// transductive method; Error if the address is taken, and what Recognizer::open throws.
  explicit Server(const std::string& recognizer, const ServerOptions& options = {});
  /// As stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const;
  /// Accepts nothing more, answers what was accepted, and ends.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom::v0
