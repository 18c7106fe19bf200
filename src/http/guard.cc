#include "http/detail/guard.h"

#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/ip/address_v4.hpp>

#include "base/error.h"
#include "base/log.h"

namespace protocom::http {
namespace fs = std::filesystem;
namespace {

/// Returns "localhost" for "localhost:8080", "[::1]" for "[::1]:8080"; nothing if anything else follows the name.
std::string host_name(const std::string& authority) {
  const bool is_bracketed = !authority.empty() && authority.front() == '[';
  const size_t end = is_bracketed ? authority.find(']') + 1 : std::min(authority.find(':'), authority.size());
  const std::string port = authority.substr(end);
  const bool is_port = port.empty() || (port.front() == ':' && port.find_first_not_of("0123456789", 1) == port.npos);
  return is_port ? authority.substr(0, end) : "";
}

/// Returns the key in "Bearer KEY"; the scheme is case-insensitive.
std::string key_text(const std::string& authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (::strncasecmp(authorization.c_str(), kScheme.data(), kScheme.size()) != 0)
    refuse(401, "send a key: Authorization: Bearer KEY");
  return authorization.substr(kScheme.size());
}

/// Whether a name is this machine's: "127.0.0.1.example.org" is another host's.
bool is_this_machine(const std::string& name) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address_v4(name, error);
  return name == "localhost" || name == "[::1]" || (!error && address.is_loopback());
}

/// Throws for requests from pages of other sites: they could make their visitor's browser send forms here, or have
/// their own name resolve to this address.
void check_from_here(const Head& head) {
  if (!is_this_machine(host_name(head.host)))
    refuse(403,
           "without API keys only requests to localhost are accepted: request that name, or start the server with API "
           "keys");
}

bool is_same_site(const Head& head) {
  if (head.origin.empty()) return true;
  const size_t scheme = head.origin.find("://");
  return scheme != std::string::npos && head.origin.substr(scheme + 3) == head.host;
}

/// Whether a page of another site, or of another port of this one, sent the request: browsers omit Origin if a page
/// only shows a picture, follows a link or sends a form by GET, but send Sec-Fetch-Site. Programs send neither.
bool is_from_other_page(const Head& head) { return head.site == "cross-site" || head.site == "same-site"; }

/// Whether a text is an origin as browsers send it: "https://shop.example:8443".
bool is_origin(const std::string& text) {
  const size_t scheme = text.find("://");
  return (text.rfind("http://", 0) == 0 || text.rfind("https://", 0) == 0) && text.size() > scheme + 3 &&
         text.find_first_of("/ ,*", scheme + 3) == std::string::npos;
}

}  // namespace

Guard::Guard(fs::path keys, std::vector<std::string> origins) : path_(std::move(keys)), origins_(std::move(origins)) {
  for (const std::string& origin : origins_) {
    if (origin != "*" && !is_origin(origin))
      fail_usage("'{}' is not an origin: expected https://name or https://name:port, or *", excerpt(origin));
  }
  if (path_.empty() && !origins_.empty()) fail_usage("pages of other sites need a server with API keys");
  if (path_.empty()) return;
  read_ = stamp_of(path_);
  keys_ = ApiKeys::read(path_);
}

/// Returns the stamp of a file. It includes the status time, because fixing the permissions of a refused file does not
/// change its content.
Guard::Stamp Guard::stamp_of(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return {facts.st_ino,          facts.st_size,        facts.st_mtim.tv_sec,
          facts.st_mtim.tv_nsec, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec};
}

/// Rereads the file after changes, so that they apply from the next request on; with a damaged file the previous keys
/// stay, without a file there are none.
void Guard::read_changes() {
  const Stamp now = stamp_of(path_);
  if (now == read_) return;
  read_ = now;
  if (now == Stamp()) {
    keys_ = {};
    logger().error("{}: the file of API keys is missing; no key is accepted until it is restored", path_.string());
    return;
  }
  try {
    keys_ = ApiKeys::read(path_);
    logger().info("{}: reloaded, {} API keys are accepted", path_.string(), keys_.all().size());
  } catch (const Error& damaged) {
    logger().error("{}; the previous keys stay valid", damaged.what());
  }
}

bool Guard::allows_origin(const std::string& origin) const {
  return !origin.empty() && std::any_of(origins_.begin(), origins_.end(),
                                        [&origin](const std::string& text) { return text == "*" || text == origin; });
}

ApiKey Guard::key_of(const Head& head) {
  read_changes();
  const auto key = keys_.find(key_text(head.authorization));
  if (!key) refuse(401, "unknown key");
  return *key;
}

void Guard::check(const Head& head, Asks asks) {
  if (!is_same_site(head) && !allows_origin(head.origin))
    refuse(403,
           "requests from pages of other sites are refused: allow their origin when the server is started (serve "
           "--allow-origin)");
  // Paths that need no key, such as the server's page, may be linked to from anywhere.
  if (asks != Asks::kNothing && is_from_other_page(head) && !allows_origin(head.origin))
    refuse(403,
           "content, links and forms from pages of other sites are refused: allow their origin when the server is "
           "started (serve --allow-origin)");
  if (path_.empty()) return check_from_here(head);
  if (asks == Asks::kNothing) return;
  const std::lock_guard lock(mutex_);
  const ApiKey key = key_of(head);
  const int wait = rate_.take(key.name, key.per_minute, RateLimit::Clock::now());
  if (wait > 0) refuse_for_now(429, wait, fmt::format("the key allows {} requests a minute", key.per_minute));
  if (asks == Asks::kWrite && key.role != Role::kWrite) refuse(403, "the key allows reading only");
}

}  // namespace protocom::http
