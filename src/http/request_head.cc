#include "http/detail/request_head.h"

#include <boost/beast/core.hpp>
#include <string>

namespace protocom::http {
namespace {

namespace beast = boost::beast;
namespace wire = boost::beast::http;

std::string field(const wire::fields& fields, wire::field name) {
  const auto value = fields[name];
  return {value.data(), value.size()};
}

}  // namespace

Head head_of(const wire::request_parser<wire::string_body>& parser) {
  const auto& message = parser.get();
  Head head;
  head.method = std::string(message.method_string());
  head.target = std::string(message.target());
  head.host = field(message, wire::field::host);
  head.origin = field(message, wire::field::origin);
  const auto site = message["Sec-Fetch-Site"];
  head.site = std::string(site.data(), site.size());
  const auto event = message["Last-Event-ID"];
  head.last_event = std::string(event.data(), event.size());
  head.authorization = field(message, wire::field::authorization);
  head.content_type = field(message, wire::field::content_type);
  head.asked_method = field(message, wire::field::access_control_request_method);
  head.chunked = parser.chunked();
  if (parser.content_length()) head.content_length = *parser.content_length();
  return head;
}

void check_head(const wire::fields& fields) {
  for (const wire::field name : {wire::field::host, wire::field::origin, wire::field::authorization,
                                 wire::field::content_type, wire::field::content_length, wire::field::content_encoding,
                                 wire::field::transfer_encoding, wire::field::expect}) {
    if (fields.count(name) > 1) refuse(400, "duplicate header {}", std::string(wire::to_string(name)));
  }
  if (fields.count(wire::field::host) == 0) refuse(400, "missing header Host");
  const std::string coding = field(fields, wire::field::transfer_encoding);
  if (!coding.empty() && !beast::iequals(coding, "chunked"))
    refuse(400, "the transfer coding is not supported: expected chunked");
  if (!field(fields, wire::field::content_encoding).empty()) refuse(415, "Content-Encoding is not supported");
}

std::optional<HttpError> complaint(boost::beast::error_code error) {
  if (error == wire::error::header_limit) return HttpError{431, "the headers are too long"};
  if (error == wire::error::buffer_overflow) return HttpError{431, "the headers are too long"};
  if (error == wire::error::body_limit) return HttpError{413, "the body is too long"};
  if (error.category() != make_error_code(wire::error::bad_target).category()) return std::nullopt;
  if (error == wire::error::end_of_stream || error == wire::error::partial_message) return std::nullopt;
  return HttpError{400, "invalid request: expected HTTP/1.1"};
}

}  // namespace protocom::http
