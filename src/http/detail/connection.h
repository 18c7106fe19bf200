#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "http/detail/apis.h"

namespace protocom::http {

class Connections;

/// What a connection is waiting for from its client.
enum class Awaits {
  kNothing,
  kHead,
  kBody,
  kReader,  ///< that it reads its response
  kEnd,     ///< that it closes a connection on which nothing more is answered
  kClosed   ///< nothing more, though the thread that answered may still refer to it
};

/// A client's connection. Used, and destroyed, only in the thread that runs the sockets, so that the context it refers
/// to still exists; it lives as long as an operation is pending.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  Connection() = default;
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Answers requests already begun, then closes: at once if there is none, a moment later if the client has only just
  /// connected.
  virtual void stop() = 0;
  /// Stops waiting at once, to free memory for others: closes, or answers 503 to a request whose head has come.
  virtual void evict() = 0;
  /// Polled several times a second, for what causes no event: a client that disconnects while its request is processed,
  /// and the end of the time for stopping.
  virtual void poll(Clock::time_point now) = 0;

  [[nodiscard]] Awaits awaits() const { return awaits_; }
  /// When it began to wait for that; for a body, when its last bytes came.
  [[nodiscard]] Clock::time_point since() const { return since_; }

 protected:
  void await(Awaits what) {
    awaits_ = what;
    since_ = Clock::now();
  }

 private:
  Awaits awaits_ = Awaits::kNothing;
  Clock::time_point since_;
};

/// Data shared by all connections.
struct ConnectionContext {
  const Apis& apis;
  const ServerLimits& limits;
  Connections& others;
  boost::asio::ssl::context* tls = nullptr;  ///< nullptr: no TLS
  bool is_shared = false;                    ///< its clients are other devices, which have the key of Server::share
};

/// Starts serving a client.
std::shared_ptr<Connection> serve_client(boost::asio::ip::tcp::socket socket, const ConnectionContext& context);

/// Tells a client that there is no room for it, and closes.
void refuse_when_full(boost::asio::ip::tcp::socket socket);

}  // namespace protocom::http
