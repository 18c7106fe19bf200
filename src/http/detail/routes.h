#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http/detail/guard.h"
#include "http/detail/message.h"

namespace protocom::http {

/// Where a route's work runs, so that requests for the server's state are answered under any load.
enum class Runs {
  kInWorker,  ///< concurrently with a few others
  kAtLength,  ///< concurrently with other kinds of long jobs, but one at a time of each kind
  kAside,     ///< in a separate thread for short work
  kAtOnce     ///< in the sockets' thread: nothing that could block
};

using Handler = std::function<void(Request, const Respond&)>;

/// The server's operation for a method and a path.
struct Route {
  std::string method;
  std::string pattern;             ///< "/v1/classes/{class}"
  Asks asks = Asks::kRead;         ///< required access
  std::vector<std::string> takes;  ///< media types of its body ("image/*"); empty: no body
  Handler handle;
  Runs runs = Runs::kInWorker;
  std::string operation = {};           ///< its name in the document; empty for the page's parts
  std::vector<std::string> query = {};  ///< permitted query parameters
};

/// Returns the routes declared by an OpenAPI document, without their handlers. The role that a route requires is its
/// `security`: none ([]), the document's own (a key that reads), or {"key": ["write"]}.
std::vector<Route> described_routes(std::string_view document);

/// The route of a request, with the parameters from its path and from the query.
struct Match {
  const Route* route = nullptr;
  std::map<std::string, std::string> parameters;
};

/// Finds the route of a request. Throws HttpError 404, 405 with the permitted methods, or 400 for a query parameter
/// that the route does not have. HEAD is answered if GET is.
Match find_route(const std::vector<Route>& routes, const Head& head);

/// Returns the media type of a request's body, without parameters. If the route changes nothing (a page of another site
/// can send such a body without a preflight), a body without a type, or with the one that curl adds by default, has the
/// only type that the route takes, or is an image whose bytes tell its kind.
std::string body_type(const Route& route, const Head& head);

/// Throws HttpError 415 if a request's body has a type that the route does not take, 400 if it has a body but the route
/// takes none.
void check_content(const Route& route, const Head& head);

}  // namespace protocom::http
