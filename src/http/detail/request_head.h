#pragma once
#include <boost/beast/http.hpp>
#include <optional>

#include "http/detail/http_error.h"
#include "http/detail/message.h"

namespace protocom::http {

/// Returns the headers of a request that the interface uses.
Head head_of(const boost::beast::http::request_parser<boost::beast::http::string_body>& parser);

/// Throws HttpError for headers that are missing or ambiguous: a proxy could interpret them differently.
void check_head(const boost::beast::http::fields& fields);

/// Returns the parser's error; nothing if the client is gone.
std::optional<HttpError> complaint(boost::beast::error_code error);

}  // namespace protocom::http
