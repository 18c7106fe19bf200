#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/detail/cancellation.h"
#include "http/detail/http_error.h"

namespace protocom::http {

/// A request without its body.
struct Head {
  std::string method;
  std::string target;  ///< as it was sent
  std::string host, origin, authorization, content_type;
  std::string site = {};        ///< Sec-Fetch-Site: relation of the browser's page to the server; else empty
  std::string last_event = {};  ///< Last-Event-ID: the last event of a stream that a client has received
  std::string asked_method;     ///< of a preflight: the method that another site's page wants to use
  std::optional<uint64_t> content_length;
  bool chunked = false;
  bool is_shared = false;  ///< came through the listener for other devices (Server::share)
};

/// A request as passed to handlers.
struct Request {
  std::map<std::string, std::string> parameters;  ///< from the route's pattern and from the query, decoded
  std::string content_type;
  std::string body;
  std::shared_ptr<Cancellation> cancellation = std::make_shared<Cancellation>();
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();  ///< before it uses the file
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// Takes the response to a request; called once, from any thread.
using Respond = std::function<void(Response)>;

/// Returns JSON of any text, with invalid UTF-8 replaced.
Response json_response(const nlohmann::json& body, int status = 200);
/// Returns {"error": {"status": 404, "code": "not_found", "message": "..."}}.
Response error_response(const HttpError& error);

}  // namespace protocom::http
