#include "http/connection.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <ctime>
#include <limits>
#include <optional>
#include <type_traits>

#include "http/connections.h"
#include "http/error_of_now.h"

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

std::string http_date() {
  char text[64];
  std::tm parts{};
  const std::time_t now = std::time(nullptr);
  ::gmtime_r(&now, &parts);
  return {text, std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

std::string field(const wire::fields& fields, wire::field name) {
  const auto value = fields[name];
  return {value.data(), value.size()};
}

Head head_of(const wire::request_parser<wire::string_body>& parser) {
  const auto& message = parser.get();
  Head head;
  head.method = std::string(message.method_string());
  head.target = std::string(message.target());
  head.host = field(message, wire::field::host);
  head.origin = field(message, wire::field::origin);
  head.authorization = field(message, wire::field::authorization);
  head.content_type = field(message, wire::field::content_type);
  head.chunked = parser.chunked();
  if (parser.content_length()) head.content_length = *parser.content_length();
  return head;
}

/// What is ambiguous is refused: another program on the way could read it otherwise.
void check_head(const wire::fields& fields) {
  for (const wire::field name : {wire::field::host, wire::field::authorization, wire::field::content_type}) {
    if (fields.count(name) > 1) refuse(400, "a header stands there twice");
  }
  if (fields.count(wire::field::host) == 0) refuse(400, "there is no header Host");
  const std::string coding = field(fields, wire::field::transfer_encoding);
  if (!coding.empty() && !beast::iequals(coding, "chunked")) refuse(400, "the transfer coding has to be chunked");
  if (!field(fields, wire::field::content_encoding).empty()) refuse(415, "bodies have to be sent as they are");
}

/// What the parser found wrong; nothing where the client is gone.
std::optional<HttpError> complaint(error_code error) {
  if (error == wire::error::header_limit) return HttpError{431, "the headers are too long"};
  if (error == wire::error::body_limit) return HttpError{413, "the body is too long"};
  if (error.category() != make_error_code(wire::error::bad_target).category()) return std::nullopt;
  if (error == wire::error::end_of_stream || error == wire::error::partial_message) return std::nullopt;
  return HttpError{400, "this is no request of HTTP/1.1"};
}

template <typename Stream>
class StreamConnection : public Connection, public std::enable_shared_from_this<StreamConnection<Stream>> {
 public:
  StreamConnection(Stream stream, const ConnectionContext& context) : stream_(std::move(stream)), context_(context) {
    context_.api.metrics().add_connections(1);
  }
  ~StreamConnection() override { context_.api.metrics().add_connections(-1); }
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
    error_code ignored;
    const bool has_begun =
        parser_ && (parser_->got_some() || buffer_.size() > 0 || lowest().socket().available(ignored) > 0);
    if (awaits() == Awaits::kHead && !has_begun) lowest().cancel();
  }

  void make_room() override {
    makes_room_ = true;
    admitted_ = {};
    await(Awaits::kNothing);
    lowest().cancel();
  }

 private:
  using Self = StreamConnection;

  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }
  auto self() { return this->shared_from_this(); }

  void on_handshake(error_code error) {
    if (!error) read_head();
  }

  void read_head() {
    if (stops_ || makes_room_) return forget();
    parser_.emplace();
    body_bytes_ = 0;
    parser_->header_limit(static_cast<uint32_t>(context_.limits.header_bytes));
    parser_->body_limit(std::numeric_limits<uint64_t>::max());  // its own limit once it is known what it is for
    lowest().expires_after(context_.limits.head);
    await(Awaits::kHead);
    wire::async_read_header(stream_, buffer_, *parser_, bind_front_handler(&Self::on_head, self()));
  }

  void on_head(error_code error, size_t) {
    await(Awaits::kNothing);
    begun_ = Clock::now();
    answered_ = {};
    if (error) return refuse_broken(error);
    if (makes_room_) return refuse_for_others();
    try {
      check_head(parser_->get());
      const Head head = head_of(*parser_);
      answered_.method = head.method;
      Match match = context_.api.find(head);
      answered_.route = match.route->pattern;
      admitted_ = context_.api.admit(head, std::move(match));
    } catch (...) {
      return refuse_unread(error_of_now());
    }
    parser_->body_limit(admitted_.most_bytes);
    read_body();
  }

  void read_body() {
    if (parser_->is_done()) return accept();
    if (context_.others.awaiting(Awaits::kBody) >= context_.limits.bodies) context_.others.end_longest(Awaits::kBody);
    lowest().expires_after(context_.limits.body);
    await(Awaits::kBody);
    if (!beast::iequals(field(parser_->get(), wire::field::expect), "100-continue")) return read_more();
    static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kGoOn.data(), kGoOn.size()), [self = self()](error_code error, size_t) {
      error || self->makes_room_ ? self->forget() : self->read_more();
    });
  }

  void read_more() { wire::async_read_some(stream_, buffer_, *parser_, bind_front_handler(&Self::on_body, self())); }

  void on_body(error_code error, size_t) {
    await(Awaits::kNothing);
    if (makes_room_) return refuse_for_others();
    if (error) return refuse_broken(error);
    const auto now = static_cast<int64_t>(parser_->get().body().size());
    bool fits = admitted_.place->add(now - body_bytes_);
    body_bytes_ = now;
    while (!fits && context_.others.end_longest(Awaits::kBody)) fits = admitted_.place->add(0);
    if (!fits) return refuse_for_others();
    if (parser_->is_done()) return accept();
    await(Awaits::kBody);
    read_more();
  }

  /// The whole request is here.
  void accept() {
    try {
      if (admitted_.place) admitted_.place->accept();
    } catch (...) {
      return refuse_unread(error_of_now());
    }
    answer();
  }

  void answer() {
    lowest().expires_never();
    // While others work on it nothing else keeps the sockets' thread at work.
    auto work = asio::make_work_guard(stream_.get_executor());
    context_.api.answer(std::move(admitted_), std::move(parser_->get().body()),
                        [self = self(), work](Response response) {
                          asio::post(self->stream_.get_executor(), [self, response = std::move(response)]() mutable {
                            self->write(std::move(response), self->parser_->keep_alive());
                          });
                        });
    admitted_ = {};
  }

  void refuse_broken(error_code error) {
    const auto said = complaint(error);
    if (!said) return forget();
    write(error_response(*said), /*keeps=*/false);
  }

  /// The room of its body is needed.
  void refuse_for_others() { write(error_response(no_room()), /*keeps=*/false); }

  /// Where a body would follow the connection cannot be used again.
  void refuse_unread(const HttpError& error) {
    write(error_response(error), parser_->is_done() && parser_->keep_alive());
  }

  void forget() {
    await(Awaits::kNothing);
    admitted_ = {};
    lowest().close();
  }

  void write(Response response, bool keeps) {
    admitted_ = {};
    parser_->get().body() = {};
    keeps_ = keeps && !stops_;
    answered_.status = response.status;
    if (answered_.route.empty()) answered_.route = "none";
    answered_.time = Clock::now() - begun_;
    if (answered_.method != "GET" && answered_.route == "none") answered_.method = "other";  // clients choose methods
    context_.api.metrics().count(answered_);
    response_ = wire::response<wire::string_body>(static_cast<wire::status>(response.status), 11);
    response_.set(wire::field::date, http_date());
    response_.set(wire::field::content_type, response.content_type);
    response_.set(wire::field::cache_control, "no-store");
    response_.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) response_.set(name, value);
    response_.content_length(response.body.size());
    if (answered_.method != "HEAD") response_.body() = std::move(response.body);
    response_.keep_alive(keeps_);
    lowest().expires_after(context_.limits.write);
    wire::async_write(stream_, response_, bind_front_handler(&Self::on_written, self()));
  }

  void on_written(error_code error, size_t) {
    if (error) return forget();
    if (keeps_ && !stops_) return read_head();
    finish();
  }

  /// A client that still sends would lose the response if the connection were closed at once.
  void finish() {
    lowest().expires_after(kLinger);
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_shutdown([self = self()](error_code) { self->forget(); });
    } else {
      error_code ignored;
      lowest().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
      discarded_.resize(size_t{1} << 16);
      discard(0);
    }
  }

  void discard(size_t so_far) {
    stream_.async_read_some(asio::buffer(discarded_), [self = self(), so_far](error_code error, size_t size) {
      if (error || so_far + size > kLingerBytes) return self->forget();
      self->discard(so_far + size);
    });
  }

  Stream stream_;
  ConnectionContext context_;
  beast::flat_buffer buffer_;
  std::optional<wire::request_parser<wire::string_body>> parser_;
  wire::response<wire::string_body> response_;
  Admitted admitted_;
  Answered answered_;
  Clock::time_point begun_;
  std::string discarded_;
  int64_t body_bytes_ = 0;  // of this request, so far
  bool makes_room_ = false;
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

void turn_away(asio::ip::tcp::socket socket) {
  static constexpr std::string_view kFull =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  auto kept = std::make_shared<asio::ip::tcp::socket>(std::move(socket));
  asio::async_write(*kept, asio::buffer(kFull.data(), kFull.size()), [kept](error_code, size_t) {});
}

}  // namespace protocom::http
