#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocom/recognizer.h"

namespace protocom::v0 {

/// How a Server is reached (docs/server.md).
struct ServerOptions {
  std::string address = "127.0.0.1";      ///< to listen at; any but a loopback address needs keys
  int port = 8080;                        ///< 0: one that is free
  std::string keys = {};                  ///< a file of `protocom keys`; empty: none are asked for
  std::string certificate = {};           ///< PEM, with its chain; empty: no TLS
  std::string private_key = {};           ///< PEM
  std::vector<std::string> origins = {};  ///< other sites whose pages may ask; needs keys
  int workers = 0;                        ///< threads that decode; 0: one per core
  int lanes = 0;                          ///< passes of the encoder at once; 0: one per core, at most 4
  RecognizerOptions recognizing = {};
};

/// A recognizer behind HTTP, with a page for the browser, inside a program. It serves from its construction on, on
/// threads of its own. port() and stop() may be called from any thread.
class PROTOCOM_API Server {
 public:
  /// Throws UsageError for another address than a loopback one without keys, a certificate without its key and a
  /// transductive method; Error where the address is taken and what Recognizer::open throws.
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
