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

/// A request before its body.
struct Head {
  std::string method;
  std::string target;  ///< as it was sent
  std::string host, origin, authorization, content_type;
  std::string site = {};        ///< Sec-Fetch-Site: relation of the browser's page to the server; else empty
  std::string last_event = {};  ///< Last-Event-ID: the last event that a client has got of a stream
  std::string asked_method;     ///< of a preflight: the method that another site's page is to use
  std::optional<uint64_t> content_length;
  bool chunked = false;
};

/// A request as handlers see it.
struct Request {
  std::map<std::string, std::string> parameters;  ///< of the route's pattern and of the query, decoded
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

/// Takes the response to a request, once, from any thread.
using Respond = std::function<void(Response)>;

/// JSON of any text: what is not UTF-8 in it is replaced.
Response json_response(const nlohmann::json& body, int status = 200);
/// {"error": {"status": 404, "code": "not_found", "message": "..."}}
Response error_response(const HttpError& error);

}  // namespace protocom::http
