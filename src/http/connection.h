#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>

#include "http/api.h"

namespace protocom::http {

/// A client's connection. All of it happens in the one thread that runs the sockets; it lives as long as something is
/// under way.
class Connection {
 public:
  Connection() = default;
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Answers what was begun, then closes: at once where nothing was.
  virtual void stop() = 0;
};

/// What connections share.
struct ConnectionContext {
  Api& api;
  const ServerLimits& limits;
  boost::asio::ssl::context* tls = nullptr;  ///< nullptr: none
};

/// Serves a client from now on.
std::shared_ptr<Connection> serve_client(boost::asio::ip::tcp::socket socket, const ConnectionContext& context);

/// Tells a client that there is no room for it, and closes.
void turn_away(boost::asio::ip::tcp::socket socket);

}  // namespace protocom::http
