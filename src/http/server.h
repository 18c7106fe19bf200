#pragma once
#include <filesystem>
#include <memory>

#include "http/share.h"
#include "protocom/server_options.h"

namespace protocom::http {

/// A recognizer behind HTTP (docs/server.md):
///
///     Server server("birds.pcm", options);
///     std::printf("port %d\n", server.port());
///     ...
///     server.stop();
///
/// It serves from its construction on. Of a folder it serves every recognizer (*.pcm) that is in it then, each with a
/// backbone and limits of its own below "/NAME/", and the first one at the root too.
class Server {
 public:
  /// Opens the recognizer, loads its backbone, and listens. Throws UsageError for another address than a loopback one
  /// without keys, and a certificate without its key; Error when the address is taken, and what Recognizer::open and
  /// ApiKeys throw.
  Server(const std::filesystem::path& recognizer, const ServerOptions& options);
  /// As stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const;

  /// The page shows from now on how other devices join.
  void invite(const Invitation& invitation);

  /// Accepts nothing more, answers what was accepted, and ends. After ServerLimits::stop it gives up what is not yet
  /// answered.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace protocom::http
