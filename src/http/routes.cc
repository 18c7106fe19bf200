#include "http/detail/routes.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "http/detail/multipart.h"
#include "http/detail/target.h"

namespace protocom::http {
namespace {

using Document = nlohmann::ordered_json;  // keeps the order of a path's methods, in which they are listed as allowed

std::vector<std::string> parts_of(const std::string& pattern) { return path_of(pattern); }

bool is_place(const std::string& part) { return part.size() > 2 && part.front() == '{' && part.back() == '}'; }

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path, Match& match) {
  if (pattern.size() != path.size()) return false;
  match.parameters.clear();
  for (size_t i = 0; i < path.size(); ++i) {
    if (is_place(pattern[i]))
      match.parameters[pattern[i].substr(1, pattern[i].size() - 2)] = path[i];
    else if (pattern[i] != path[i])
      return false;
  }
  return true;
}

Asks asked_by(const Document& operation) {
  const auto security = operation.find("security");
  if (security == operation.end()) return Asks::kRead;
  if (security->empty()) return Asks::kNothing;
  return security->at(0).at("key").empty() ? Asks::kRead : Asks::kWrite;
}

std::vector<std::string> query_parameters(const Document& operation) {
  std::vector<std::string> names;
  for (const auto& parameter : operation.value("parameters", Document::array())) {
    if (parameter.at("in") == "query") names.push_back(parameter.at("name").get<std::string>());
  }
  return names;
}

Route described_route(const std::string& path, std::string method, const Document& operation) {
  Route route;
  for (char& c : method) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  route.method = std::move(method);
  route.pattern = path;
  route.asks = asked_by(operation);
  if (operation.contains("requestBody")) {
    for (const auto& body : operation["requestBody"].at("content").items()) route.takes.push_back(body.key());
  }
  route.operation = operation.at("operationId").get<std::string>();
  route.query = query_parameters(operation);
  return route;
}

/// Adds the query parameters to a match.
void take_query(std::string_view target, Match& match) {
  const std::vector<std::string>& known = match.route->query;
  if (known.empty() && target.find('?') != std::string_view::npos) refuse(400, "this path has no query parameters");
  for (auto& [name, value] : query_of(target)) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse(400, "unknown query parameter '{}': expected {}", excerpt(name), fmt::join(known, " or "));
    match.parameters.emplace(name, std::move(value));
  }
}

bool has_body(const Head& head) { return head.chunked || head.content_length.value_or(0) > 0; }

}  // namespace

std::vector<Route> described_routes(std::string_view document) {
  constexpr const char* kOfAllMethods = "parameters";
  std::vector<Route> routes;
  const auto described = Document::parse(document);
  for (const auto& [path, item] : described.at("paths").items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method != kOfAllMethods) routes.push_back(described_route(path, method, operation));
    }
  }
  return routes;
}

Match find_route(const std::vector<Route>& routes, const Head& head) {
  const std::vector<std::string> path = path_of(without_query(head.target));
  const std::string method = head.method == "HEAD" ? "GET" : head.method;
  std::vector<std::string> allowed;
  for (const Route& route : routes) {
    Match match;
    if (!fits(parts_of(route.pattern), path, match)) continue;
    match.route = &route;
    if (route.method == method) {
      take_query(head.target, match);
      return match;
    }
    allowed.push_back(route.method);
  }
  if (allowed.empty()) refuse(404, "unknown path");
  const std::string list = fmt::format("{}", fmt::join(allowed, ", "));
  throw HttpError{405, "this path takes " + list, 0, list};
}

std::string body_type(const Route& route, const Head& head) {
  constexpr const char* kBytes = "application/octet-stream";
  std::string stated = media_type(head.content_type);
  const bool unstated = stated.empty() || stated == "application/x-www-form-urlencoded";  // curl --data-binary
  if (!unstated || route.asks == Asks::kWrite) return stated;
  if (route.takes.size() == 1) return route.takes.front();
  const bool takes_bytes = std::find(route.takes.begin(), route.takes.end(), kBytes) != route.takes.end();
  return takes_bytes ? kBytes : stated;
}

void check_content(const Route& route, const Head& head) {
  if (!has_body(head)) return;
  if (route.takes.empty()) refuse(400, "body: expected none");
  const std::string type = body_type(route, head);
  for (const std::string& take : route.takes) {
    const bool all_of_kind = take.back() == '*';
    if (all_of_kind ? type.rfind(take.substr(0, take.size() - 1), 0) == 0 : type == take) return;
  }
  refuse(415, "expected a body of {}", fmt::join(route.takes, " or "));
}

}  // namespace protocom::http
