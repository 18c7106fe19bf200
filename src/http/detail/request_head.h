#pragma once
#include <boost/beast/http.hpp>
#include <optional>

#include "http/detail/http_error.h"
#include "http/detail/message.h"

namespace protocom::http {

/// The headers of a request that the interface uses.
Head head_of(const boost::beast::http::request_parser<boost::beast::http::string_body>& parser);

/// Throws HttpError for headers that are missing or ambiguous: another program on the way could read those otherwise.
void check_head(const boost::beast::http::fields& fields);

/// What the parser found wrong; nothing if the client is gone.
std::optional<HttpError> complaint(boost::beast::error_code error);

}  // namespace protocom::http
