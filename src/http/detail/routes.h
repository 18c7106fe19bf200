#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http/detail/guard.h"
#include "http/detail/message.h"

namespace protocom::http {

/// Where a route's work is done, so that questions about the server's state are answered however busy it is.
enum class Runs {
  kInWorker,  ///< beside a few others
  kAtLength,  ///< beside the other long jobs, of which one of a kind runs at a time
  kAside,     ///< in a thread of its own for what is short
  kAtOnce     ///< in the sockets' thread: nothing that could wait
};

using Handler = std::function<void(Request, const Respond&)>;

/// What the server does for a method and a path.
struct Route {
  std::string method;
  std::string pattern;             ///< "/v1/classes/{class}"
  Asks asks = Asks::kRead;         ///< of the caller
  std::vector<std::string> takes;  ///< media types of its body ("image/*"); empty: no body
  Handler handle;
  Runs runs = Runs::kInWorker;
  std::string operation = {};           ///< its name in the document; of the page's parts: empty
  std::vector<std::string> query = {};  ///< parameters that a request may have behind "?"
};

/// The routes of an OpenAPI document, which declares them, not yet with their handlers. The role that
/// a route asks for is its `security`: none ([]), the document's own (a key that reads), or {"key": ["write"]}.
std::vector<Route> described_routes(std::string_view document);

/// A route that was requested, with what stood in its pattern's places and in the query.
struct Match {
  const Route* route = nullptr;
  std::map<std::string, std::string> parameters;
};

/// The route of a request. Throws HttpError 404, 405 with the methods that there are, or 400 for a query parameter that
/// the route does not have. HEAD is answered where GET is.
Match find_route(const std::vector<Route>& routes, const Head& head);

/// The media type of a request's body, without parameters. Where the route changes nothing (a page of another site can
/// send such a body without a preflight), a body without one, or with the one that curl states unasked, has the only
/// type that the route takes, or is an image whose bytes say its kind.
std::string body_type(const Route& route, const Head& head);

/// Throws HttpError 415 when a request has a body of a type that the route does not take, 400 when it has one where
/// none belongs.
void check_content(const Route& route, const Head& head);

}  // namespace protocom::http
