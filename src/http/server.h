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
/// It serves from its construction on. For a folder it serves every recognizer (*.pcm) in it at that time, each with a
/// backbone and limits of its own below "/NAME/", and the first one at the root too.
class Server {
 public:
  /// Opens the recognizer, loads its backbone, and listens. Throws UsageError without keys unless the address is a
  /// loopback one, and for a certificate without its key; Error if the address is taken, and what Recognizer::open and
  /// ApiKeys throw.
  Server(const std::filesystem::path& recognizer, const ServerOptions& options);
  /// Calls stop().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] int port() const;

  /// Makes the page show how other devices join.
  void invite(const Invitation& invitation);

  /// Listens at a second, free port, for other devices in this network: over TLS, with a key and a certificate
  /// of its own (Share), until unshare() or stop(). Programs on this machine still need no key. The page does this when
  /// it is asked to. Does nothing if it is open already. Throws Error if this machine is in no network.
  void share();
  /// Stops listening there and refuses further requests of its clients.
  void unshare();

  /// Stops accepting requests, answers the accepted ones, and ends. After ServerLimits::stop it abandons unanswered
  /// ones.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace protocom::http
