#include "http/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "http/detail/connections.h"

namespace protocom::http {
namespace asio = boost::asio;
namespace {

using asio::ip::tcp;
using boost::system::error_code;

/// Pause after a failure to accept a connection: the next one would fail for the same reason.
constexpr std::chrono::milliseconds kAcceptPause{100};

constexpr std::chrono::milliseconds kLookEvery{250};
constexpr std::chrono::milliseconds kLookEveryWhileStopping{10};

/// File descriptors used temporarily besides connections: journals of the recognizer's file, files in memory.
constexpr int64_t kDescriptorsForWork = 16;
constexpr int64_t kFewestConnections = 2;

int64_t open_descriptors() {
  constexpr int64_t kUsual = 32;  // if the system does not state it
  std::error_code error;
  int64_t count = 0;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) ++count;
  return error ? kUsual : count;
}

/// Returns the number of connections requested, but at most as many as the system's limit of descriptors allows:
/// without a free descriptor for the next client, none could be closed in its favour.
int64_t most_connections(int64_t asked) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return asked;
  const auto most = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, rlim_t{1} << 30));
  const int64_t room = std::max(kFewestConnections, most - open_descriptors() - kDescriptorsForWork);
  if (room < asked)
    logger().warn("at most {} connections at once instead of {}: this process may open {} files (ulimit -n)", room,
                  asked, most);
  return std::min(asked, room);
}

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
  if (options.port < 0 || options.port > 65535)
    fail_usage("port: expected a number between 0 and 65535, found {}", options.port);
  const int64_t longest = std::max(options.limits.body_bytes, options.limits.json_bytes);
  if (longest > options.limits.waiting_bytes)
    fail_usage(
        "the limit of one body, {} bytes (body_bytes or json_bytes), exceeds that of all together, {} (waiting_bytes)",
        longest, options.limits.waiting_bytes);
}

/// For TLS 1.2 only ciphers with forward secrecy; TLS 1.3 has no others.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

/// Returns nullptr without a certificate.
std::unique_ptr<asio::ssl::context> make_tls_context(const ServerOptions& options) {
  if (options.certificate.empty()) return nullptr;
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1 | asio::ssl::context::no_compression);
  if (::SSL_CTX_set_cipher_list(tls->native_handle(), kCiphers) != 1) fail("OpenSSL has none of {}", kCiphers);
  error_code error;
  tls->use_certificate_chain_file(options.certificate.string(), error);
  if (error) fail("{} is not a certificate in PEM: {}", options.certificate.string(), error.message());
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
  /// A place where clients connect.
  struct Listener {
    Listener(asio::io_context& sockets, const ServerOptions& options, bool shared)
        : tls(make_tls_context(options)), acceptor(listen(sockets, options)), pause(sockets), is_shared(shared) {}

    std::unique_ptr<asio::ssl::context> tls;  // nullptr: no TLS
    tcp::acceptor acceptor;
    asio::steady_timer pause;
    bool is_shared;      // whether it is for other devices
    bool fails = false;  // whether the last connection could not be accepted
  };
  using ListenerPtr = std::shared_ptr<Listener>;

  Parts(const std::filesystem::path& recognizer, const ServerOptions& given)
      : options(given), listener(std::make_shared<Listener>(sockets, given, false)), apis(recognizer, given) {
    ServerLimits& limits = options.limits;
    limits.connections = most_connections(limits.connections);  // with the recognizers' files open
    limits.bodies = std::min(limits.bodies, std::max<int64_t>(limits.connections / 2, 1));  // slow ones leave the rest
    if (options.keys.empty()) apis.allow_sharing({[this] { share(); }, [this] { unshare(); }});
  }

  void accept(const ListenerPtr& at) {
    at->acceptor.async_accept([this, at](error_code error, tcp::socket socket) {
      if (!error && !at->acceptor.is_open()) return welcome(*at, std::move(socket));  // it came just before
      if (error == asio::error::operation_aborted || !at->acceptor.is_open()) return;
      if (error) return accept_later(at, error);
      at->fails = false;
      accept(at);  // whatever happens to this one
      welcome(*at, std::move(socket));
    });
  }

  void accept_later(const ListenerPtr& at, error_code error) {
    if (error == asio::error::no_descriptors) make_room();
    if (!std::exchange(at->fails, true)) logger().warn("connections cannot be accepted: {}", error.message());
    at->pause.expires_after(kAcceptPause);
    at->pause.async_wait([this, at](error_code stopped) {
      if (!stopped && at->acceptor.is_open()) accept(at);
    });
  }

  /// Closes the least useful connection; returns false if all are busy.
  bool make_room() {
    if (connections.end_longest(Awaits::kEnd) || connections.end_longest(Awaits::kHead)) return true;
    const bool few_read = connections.awaiting(Awaits::kReader) > options.limits.connections / 4;
    return few_read && connections.end_longest(Awaits::kReader);
  }

  void welcome(Listener& at, tcp::socket socket) {
    const bool is_full = connections.count() >= options.limits.connections;
    if (is_full && !make_room()) return refuse_when_full(std::move(socket));
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto connection =
        serve_client(std::move(socket), {apis, options.limits, connections, at.tls.get(), at.is_shared});
    connections.add(connection);
    if (!listener->acceptor.is_open()) connection->stop();
  }

  /// Answers clients that connected before the stop: at most as many as can be queued, since others may go on
  /// connecting as fast as they are accepted.
  void welcome_waiting() {
    error_code error;
    listener->acceptor.non_blocking(true, error);
    for (int i = 0; !error && i < asio::socket_base::max_listen_connections; ++i) {
      tcp::socket socket(sockets);
      listener->acceptor.accept(socket, error);
      if (!error) welcome(*listener, std::move(socket));
    }
  }

  void share() {
    const std::lock_guard lock(sharing);
    if (shared || is_over) return;
    auto made = std::make_unique<const Share>();
    if (made->addresses(0).empty()) fail("this machine has no network address: connect it to a network");
    ServerOptions others = options;
    made->apply(others);
    others.port = 0;
    const auto at = std::make_shared<Listener>(sockets, others, true);
    Invitation invitation = made->invitation(at->acceptor.local_endpoint().port());
    invitation.keys = others.keys;
    apis.invite(invitation);
    shared = std::move(made);
    asio::post(sockets, [this, at] {
      if (!listener->acceptor.is_open()) return;  // the server stops
      others_listener = at;
      accept(at);
    });
  }

  void unshare() {
    const std::lock_guard lock(sharing);
    if (!shared || is_over) return;
    apis.invite({});
    shared.reset();
    asio::post(sockets, [this] { stop_listening_for_others(); });
  }

  /// Called in the sockets' thread.
  void stop_listening_for_others() {
    if (!others_listener) return;
    others_listener->acceptor.close();
    others_listener->pause.cancel();
    closed_listeners.push_back(std::move(others_listener));
    others_listener = nullptr;
  }

  /// Polls as long as there is a connection or there may be one.
  void look_after() {
    watch.expires_after(listener->acceptor.is_open() ? kLookEvery : kLookEveryWhileStopping);
    watch.async_wait([this](error_code) {
      connections.look();
      if (listener->acceptor.is_open() || connections.count() > 0) look_after();
    });
  }

  /// Runs the sockets' thread. A failure of one connection does not affect the others.
  void run() {
    for (;;) {
      try {
        sockets.run();
        return;
      } catch (const std::exception& error) {
        logger().error("a connection was closed: {}", reason_of(error));
      }
    }
  }

  /// Called in the sockets' thread.
  void close() {
    welcome_waiting();
    listener->acceptor.close();
    listener->pause.cancel();
    stop_listening_for_others();
    watch.cancel();
    apis.stop_following();
    connections.stop();
  }

  ServerOptions options;
  asio::io_context sockets{1};
  const ListenerPtr listener;
  ListenerPtr others_listener;                // for other devices; nullptr: it is closed
  std::vector<ListenerPtr> closed_listeners;  // connections may still use their certificates
  asio::steady_timer watch{sockets};
  std::mutex sharing;                   // guards the next two
  std::unique_ptr<const Share> shared;  // nullptr: no other device can join
  bool is_over = false;                 // the server has stopped
  Apis apis;
  Connections connections;
  std::thread thread;
};

Server::Server(const std::filesystem::path& recognizer, const ServerOptions& options) {
  check_options(options);
  parts_ = std::make_unique<Parts>(recognizer, options);
  parts_->accept(parts_->listener);
  parts_->look_after();
  parts_->thread = std::thread([parts = parts_.get()] { parts->run(); });
}

Server::~Server() { stop(); }

void Server::invite(const Invitation& invitation) { parts_->apis.invite(invitation); }

void Server::share() { parts_->share(); }

void Server::unshare() { parts_->unshare(); }

int Server::port() const { return parts_->listener->acceptor.local_endpoint().port(); }

void Server::stop() {
  if (!parts_->thread.joinable()) return;
  asio::post(parts_->sockets, [parts = parts_.get()] { parts->close(); });
  parts_->thread.join();
  const std::lock_guard lock(parts_->sharing);
  parts_->is_over = true;  // a request to share may still be in progress
}

}  // namespace protocom::http
