#include "protocom/http/server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <thread>

#include "http/connection.h"
#include "protocom/core/error.h"
#include "protocom/core/log.h"

namespace protocom::http {
namespace asio = boost::asio;
namespace {

using asio::ip::tcp;
using boost::system::error_code;

asio::ip::address address_of(const std::string& text) {
  error_code error;
  const auto address = asio::ip::make_address(text == "localhost" ? "127.0.0.1" : text, error);
  if (error) fail_usage("expected an address to listen at, such as 127.0.0.1 or ::, found '{}'", excerpt(text));
  return address;
}

void check_options(const ServerOptions& options) {
  if (!address_of(options.address).is_loopback() && options.keys.empty())
    fail_usage("{} can be reached from other machines: give a file of API keys (protocom keys add)", options.address);
  if (options.certificate.empty() != options.private_key.empty())
    fail_usage("TLS needs both a certificate and its private key");
  if (options.port < 0 || options.port > 65535) fail_usage("a port lies between 0 and 65535, found {}", options.port);
}

/// nullptr without a certificate.
std::unique_ptr<asio::ssl::context> tls_of(const ServerOptions& options) {
  if (options.certificate.empty()) return nullptr;
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1 | asio::ssl::context::no_compression);
  error_code error;
  tls->use_certificate_chain_file(options.certificate.string(), error);
  if (error) fail("{} is no certificate in PEM: {}", options.certificate.string(), error.message());
  tls->use_private_key_file(options.private_key.string(), asio::ssl::context::pem, error);
  if (error)
    fail("{} is not the private key of {}: {}", options.private_key.string(), options.certificate.string(),
         error.message());
  return tls;
}

tcp::acceptor listen(asio::io_context& sockets, const ServerOptions& options) {
  const tcp::endpoint place(address_of(options.address), static_cast<uint16_t>(options.port));
  tcp::acceptor acceptor(sockets);
  error_code error;
  acceptor.open(place.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(place, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) fail("cannot listen at {} port {}: {}", options.address, options.port, error.message());
  return acceptor;
}

}  // namespace

struct Server::Parts {
  Parts(const std::filesystem::path& recognizer, const ServerOptions& given)
      : options(given), tls(tls_of(given)), acceptor(listen(sockets, given)), api(recognizer, given) {}

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (error)
        logger().warn("a connection could not be accepted: {}", error.message());
      else
        welcome(std::move(socket));
      accept();
    });
  }

  void welcome(tcp::socket socket) {
    const auto gone = [](const std::weak_ptr<Connection>& one) { return one.expired(); };
    connections.erase(std::remove_if(connections.begin(), connections.end(), gone), connections.end());
    if (static_cast<int64_t>(connections.size()) >= options.limits.connections) return turn_away(std::move(socket));
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    connections.push_back(serve_client(std::move(socket), {api, options.limits, tls.get()}));
  }

  /// In the sockets' thread.
  void close() {
    acceptor.close();
    for (const auto& one : connections) {
      if (const auto connection = one.lock()) connection->stop();
    }
  }

  const ServerOptions options;
  asio::io_context sockets{1};
  std::unique_ptr<asio::ssl::context> tls;
  tcp::acceptor acceptor;
  Api api;
  std::vector<std::weak_ptr<Connection>> connections;
  std::thread thread;
};

Server::Server(const std::filesystem::path& recognizer, const ServerOptions& options) {
  check_options(options);
  parts_ = std::make_unique<Parts>(recognizer, options);
  parts_->accept();
  parts_->thread = std::thread([parts = parts_.get()] { parts->sockets.run(); });
}

Server::~Server() { stop(); }

int Server::port() const { return parts_->acceptor.local_endpoint().port(); }

void Server::stop() {
  if (!parts_->thread.joinable()) return;
  asio::post(parts_->sockets, [parts = parts_.get()] { parts->close(); });
  parts_->thread.join();
}

}  // namespace protocom::http
