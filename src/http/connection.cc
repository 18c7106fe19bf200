#include "http/detail/connection.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <ctime>
#include <limits>
#include <optional>
#include <type_traits>

#include "http/detail/connections.h"
#include "http/detail/inference_protocol.h"
#include "http/detail/lease.h"
#include "http/detail/request_head.h"

namespace protocom::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using beast::bind_front_handler;
using beast::error_code;

using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

constexpr std::chrono::seconds kLinger{2};
constexpr size_t kLingerBytes = size_t{8} << 20;
constexpr std::chrono::seconds kFirstHead{1};          // for a client that connected just before the server stops
constexpr std::chrono::milliseconds kLastLinger{250};  // once the server is stopping
constexpr size_t kReadBytes = size_t{32} << 10;
constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr int64_t kBytesAChunk = 16;  // overhead of a chunk besides its content

std::string http_date() {
  char text[64];
  std::tm parts{};
  const std::time_t now = std::time(nullptr);
  ::gmtime_r(&now, &parts);
  return {text, std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

template <typename Stream>
class StreamConnection : public Connection, public std::enable_shared_from_this<StreamConnection<Stream>> {
 public:
  StreamConnection(Stream stream, const ConnectionContext& context)
      : stream_(std::move(stream)),
        context_(context),
        buffer_(static_cast<size_t>(context.limits.header_bytes) + kReadBytes),
        count_chunk_([this](uint64_t, beast::string_view, error_code&) { ++chunks_; }) {
    api_ = &context_.apis.first();
    api_->metrics().add_connections(1);
  }
  ~StreamConnection() override { context_.apis.first().metrics().add_connections(-1); }
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;

  void start() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      lowest().expires_after(context_.limits.head);
      await(Awaits::kHead);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              bind_front_handler(&StreamConnection::on_handshake, this->shared_from_this()));
    } else {
      read_head();
    }
  }

  void stop() override {
    stops_ = true;
    stop_by_ = Clock::now() + context_.limits.stop;
    begin_by_ = served_ ? Clock::now() : Clock::now() + kFirstHead;
    poll(Clock::now());
  }

  void evict() override {
    evicted_ = true;
    admitted_ = {};
    room_ = {};
    await(Awaits::kNothing);
    lowest().cancel();
  }

  void poll(Clock::time_point now) override {
    if (cancellation_ && is_gone()) cancellation_->cancel();
    if (!stops_) return;
    if (awaits() == Awaits::kHead && now >= begin_by_ && !has_begun()) lowest().cancel();
    if (awaits() == Awaits::kEnd && now >= since() + kLastLinger) lowest().cancel();
    if (now < stop_by_) return;
    if (cancellation_) cancellation_->cancel();
    if (awaits() == Awaits::kHead || awaits() == Awaits::kBody || awaits() == Awaits::kReader) evict();
  }

 private:
  using Self = StreamConnection;

  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }
  auto self() { return this->shared_from_this(); }

  /// Whether any byte of a request has arrived.
  bool has_begun() {
    error_code ignored;
    if (buffer_.size() > 0 || (parser_ && parser_->got_some())) return true;
    return lowest().socket().available(ignored) > 0;
  }

  /// Whether the client is gone; reading would notice only after draining its data.
  bool is_gone() {
    tcp_info facts{};
    socklen_t size = sizeof(facts);
    if (::getsockopt(lowest().socket().native_handle(), IPPROTO_TCP, TCP_INFO, &facts, &size) != 0) return true;
    if (facts.tcpi_state != TCP_CLOSE_WAIT) return facts.tcpi_state == TCP_CLOSE;
    if constexpr (std::is_same_v<Stream, TlsStream>) return true;
    probe();
    return false;
  }

  /// Sends an interim response, which a client must ignore (RFC 9110, 15.2), once for each request whose client has
  /// closed its sending side. If it only did that, it still reads, as `nc -N` does; if it is gone, its machine answers
  /// with a reset, which the next look finds.
  void probe() {
    int unread = 0;
    const int socket = lowest().socket().native_handle();
    if (probed_ || parser_->get().version() < 11 || ::ioctl(socket, SIOCOUTQ, &unread) != 0 || unread > 0) return;
    probed_ = ::send(socket, kGoOn.data(), kGoOn.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
  }

  void on_handshake(error_code error) {
    if (!error) read_head();
  }

  void read_head() {
    if (stops_ || evicted_) return close();
    parser_.emplace();
    parser_->on_chunk_header(count_chunk_);
    body_bytes_ = parsed_ = chunks_ = 0;
    if (buffer_.size() == 0) buffer_.shrink_to_fit();
    parser_->header_limit(static_cast<uint32_t>(context_.limits.header_bytes));
    parser_->body_limit(std::numeric_limits<uint64_t>::max());  // the operation sets its limit once the path is known
    lowest().expires_after(context_.limits.head);
    await(Awaits::kHead);
    wire::async_read_header(stream_, buffer_, *parser_, bind_front_handler(&Self::on_head, self()));
  }

  void on_head(error_code error, size_t) {
    await(Awaits::kNothing);
    served_ = true;
    api_ = &context_.apis.first();
    begun_ = Clock::now();
    answered_ = {};
    origin_ = {};
    is_of_inference_ = false;
    if (error) return refuse_broken(error);
    if (evicted_) return refuse_for_others();
    try {
      check_head(parser_->get());
      Head head = head_of(*parser_);
      head.is_shared = context_.is_shared;
      answered_.method = head.method;
      api_ = &context_.apis.of(head);
      is_of_inference_ = is_of_inference(head.target);
      origin_ = api_->allows_origin(head.origin) ? head.origin : "";
      if (const auto allowed = api_->preflight(head)) return write(*allowed, /*keeps=*/false);
      Match match = api_->find(head);
      answered_.route = match.route->pattern;
      admitted_ = api_->admit(head, std::move(match));
    } catch (...) {
      return close_with(translate_exception());
    }
    parser_->body_limit(admitted_.most_bytes);
    parser_->eager(true);
    read_body();
  }

  void read_body() {
    if (parser_->is_done()) return accept();
    if (context_.others.awaiting(Awaits::kBody) >= context_.limits.bodies) context_.others.end_longest(Awaits::kBody);
    lowest().expires_after(context_.limits.body);
    await(Awaits::kBody);
    if (!beast::iequals(parser_->get()[wire::field::expect], "100-continue")) return take_body();
    asio::async_write(stream_, asio::buffer(kGoOn.data(), kGoOn.size()), [self = self()](error_code error, size_t) {
      error || self->evicted_ ? self->close() : self->take_body();
    });
  }

  void read_more() {
    await(Awaits::kBody);
    stream_.async_read_some(buffer_.prepare(kReadBytes), bind_front_handler(&Self::on_bytes, self()));
  }

  void on_bytes(error_code error, size_t size) {
    await(Awaits::kNothing);
    buffer_.commit(size);
    if (evicted_) return refuse_for_others();
    if (error) return refuse_broken(error);
    take_body();
  }

  /// Parses the received part of the body, and counts its bytes whether they are content or not.
  void take_body() {
    await(Awaits::kNothing);  // so that end_longest() does not choose this connection
    if (buffer_.size() == 0) return read_more();
    error_code error;
    const size_t parsed = parser_->put(buffer_.data(), error);
    buffer_.consume(parsed);
    parsed_ += static_cast<int64_t>(parsed);
    if (error && error != wire::error::need_more) return refuse_broken(error);
    if (is_framed_too_long()) return close_with({431, "the chunk extensions and trailers are too long"});
    const auto now = static_cast<int64_t>(parser_->get().body().size() + buffer_.size());
    bool fits = admitted_.place->add(now - body_bytes_);
    body_bytes_ = now;
    while (!fits && context_.others.end_longest(Awaits::kBody)) fits = admitted_.place->add(0);
    if (!fits) return refuse_for_others();
    parser_->is_done() ? accept() : read_more();
  }

  /// Whether a chunked body has too much framing: extensions and trailers are read and ignored. Until the body is
  /// complete they are in the buffer.
  [[nodiscard]] bool is_framed_too_long() const {
    const auto waiting = parser_->is_done() ? 0 : static_cast<int64_t>(buffer_.size());
    const int64_t framing = parsed_ + waiting - static_cast<int64_t>(parser_->get().body().size());
    return std::max(waiting, framing - kBytesAChunk * chunks_) > context_.limits.header_bytes;
  }

  /// Accepts the request, which is complete.
  void accept() {
    try {
      if (admitted_.place) admitted_.place->accept();
    } catch (...) {
      return write(error_response(translate_exception()), parser_->keep_alive());
    }
    answer();
  }

  void answer() {
    lowest().expires_never();
    probed_ = false;
    cancellation_ = admitted_.cancellation;
    const auto lease = std::make_shared<Lease<Self, typename Stream::executor_type>>(self(), stream_.get_executor());
    api_->answer(std::move(admitted_), std::move(parser_->get().body()), [lease](Response response) {
      lease->post([response = std::move(response)](Self& connection) mutable {
        connection.write(std::move(response), connection.parser_->keep_alive());
      });
    });
    admitted_ = {};
  }

  void refuse_broken(error_code error) {
    const auto stated = complaint(error);
    stated ? close_with(*stated) : close();
  }

  /// Refuses the request, since the memory of its body is needed.
  void refuse_for_others() { close_with(no_room()); }

  /// Refuses and closes: what follows a refused request may be its body or not, and is never treated as a request.
  void close_with(const HttpError& error) { write(error_response(error), /*keeps=*/false); }

  void close() {
    await(Awaits::kClosed);
    admitted_ = {};
    room_ = {};
    lowest().close();
  }

  /// Returns the response, or another if there is no memory for it. A response stays in memory until it is read; to
  /// make room, the connections that have waited longest for their readers are closed.
  Response that_fits(Response response) {
    room_ = api_->room();
    bool fits = room_->add(static_cast<int64_t>(response.body.size()));
    while (!fits && context_.others.end_longest(Awaits::kReader)) fits = room_->add(0);
    if (fits || response.body.size() <= kReadBytes) return response;
    room_ = {};
    return error_response(no_room());
  }

  void write(Response whole, bool keeps) {
    admitted_ = {};
    cancellation_ = {};
    parser_->get().body() = {};
    Response response = that_fits(std::move(whole));
    if (is_of_inference_) response = in_form_of_inference(std::move(response));
    keeps_ = keeps && !stops_;
    answered_.status = response.status;
    if (answered_.route.empty()) answered_.route = "none";
    answered_.time = Clock::now() - begun_;
    if (answered_.method != "GET" && answered_.route == "none") answered_.method = "other";  // clients choose methods
    api_->metrics().count(answered_);
    response_ = wire::response<wire::string_body>(static_cast<wire::status>(response.status), 11);
    response_.set(wire::field::date, http_date());
    response_.set(wire::field::content_type, response.content_type);
    response_.set(wire::field::cache_control, "no-store");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("Cross-Origin-Resource-Policy", "same-origin");
    for (const auto& [name, value] : response.headers) response_.set(name, value);
    if (!origin_.empty()) allow_origin();
    response_.content_length(response.body.size());
    if (answered_.method != "HEAD") response_.body() = std::move(response.body);
    response_.keep_alive(keeps_);
    lowest().expires_after(context_.limits.write);
    await(Awaits::kReader);
    wire::async_write(stream_, response_, bind_front_handler(&Self::on_written, self()));
  }

  /// Allows the page of another site that sent the request to read the response.
  void allow_origin() {
    response_.set(wire::field::access_control_allow_origin, origin_);
    response_.set(wire::field::vary, "Origin");
    response_.set("Cross-Origin-Resource-Policy", "cross-origin");
  }

  void on_written(error_code error, size_t) {
    await(Awaits::kNothing);
    response_ = {};
    room_ = {};
    if (error) return close();
    if (keeps_ && !stops_) return read_head();
    linger();
  }

  /// Reads on for a moment: a client that still sends would lose the response if the connection were closed at once.
  void linger() {
    lowest().expires_after(kLinger);
    await(Awaits::kEnd);
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_shutdown([self = self()](error_code) { self->close(); });
    } else {
      error_code ignored;
      lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
      buffer_ = beast::flat_buffer();
      discarded_.resize(kReadBytes);
      discard(0);
    }
  }

  void discard(size_t so_far) {
    stream_.async_read_some(asio::buffer(discarded_), [self = self(), so_far](error_code error, size_t size) {
      if (error || self->evicted_ || so_far + size > kLingerBytes) return self->close();
      self->discard(so_far + size);
    });
  }

  Stream stream_;
  ConnectionContext context_;
  beast::flat_buffer buffer_;
  std::optional<wire::request_parser<wire::string_body>> parser_;
  wire::response<wire::string_body> response_;
  Api* api_ = nullptr;  // of the recognizer that the request is for
  Admitted admitted_;
  Answered answered_;
  bool is_of_inference_ = false;
  std::string origin_;  // of the request, if it is from another site that is allowed
  Clock::time_point begun_;
  std::string discarded_;
  std::shared_ptr<Cancellation> cancellation_;  // of the request in progress
  std::shared_ptr<Admission::Place> room_;      // for the response
  std::function<void(uint64_t, beast::string_view, error_code&)> count_chunk_;
  int64_t body_bytes_ = 0;  // in memory for this request's body
  int64_t parsed_ = 0;      // of the body, content or not
  int64_t chunks_ = 0;
  Clock::time_point stop_by_, begin_by_;  // once it is stopping: for everything, and for a request's first byte
  bool probed_ = false;                   // whether this request's client was sent an interim response
  bool evicted_ = false;
  bool served_ = false;  // whether a request has come
  bool keeps_ = false;
  bool stops_ = false;
};

template <typename Stream>
std::shared_ptr<Connection> start(Stream stream, const ConnectionContext& context) {
  auto connection = std::make_shared<StreamConnection<Stream>>(std::move(stream), context);
  connection->start();
  return connection;
}

}  // namespace

std::shared_ptr<Connection> serve_client(asio::ip::tcp::socket socket, const ConnectionContext& context) {
  PlainStream stream(std::move(socket));
  if (context.tls == nullptr) return start(std::move(stream), context);
  return start(TlsStream(std::move(stream), *context.tls), context);
}

void refuse_when_full(asio::ip::tcp::socket socket) {
  static constexpr std::string_view kFull =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  auto kept = std::make_shared<asio::ip::tcp::socket>(std::move(socket));
  asio::async_write(*kept, asio::buffer(kFull.data(), kFull.size()), [kept](error_code, size_t) {});
}

}  // namespace protocom::http
