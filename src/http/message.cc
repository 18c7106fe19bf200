#include "http/detail/message.h"

#include "base/printed_json.h"

namespace protocom::http {
namespace {

/// Returns the code of a status in error bodies.
std::string code_of(int status) {
  static const std::map<int, std::string> kCodes = {
      {400, "bad_request"},        {401, "unauthorized"},      {403, "forbidden"},   {404, "not_found"},
      {405, "method_not_allowed"}, {409, "conflict"},          {413, "too_large"},   {415, "unsupported_media"},
      {429, "too_many_requests"},  {431, "headers_too_large"}, {503, "unavailable"}, {507, "disk_full"}};
  const auto found = kCodes.find(status);
  return found == kCodes.end() ? "internal" : found->second;
}

}  // namespace

Response json_response(const nlohmann::json& body, int status) {
  return {status, "application/json", printed_json(body) + "\n"};
}

Response error_response(const HttpError& error) {
  Response response = json_response(
      {{"error", {{"status", error.status}, {"code", code_of(error.status)}, {"message", error.message}}}},
      error.status);
  if (error.retry_after > 0) response.headers.emplace_back("Retry-After", std::to_string(error.retry_after));
  if (!error.allow.empty()) response.headers.emplace_back("Allow", error.allow);
  if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace protocom::http
