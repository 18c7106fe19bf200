#include "base/text.h"
#include "http/detail/api.h"
#include "http/detail/embedded.h"

namespace protocom::http {
namespace {

/// What a browser may do with the page: it neither loads nor sends anything elsewhere.
const std::vector<std::pair<std::string, std::string>> kPagePolicy = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"}};

Response page_part(const std::string& type, const std::string& stem) {
  const std::string_view text = embedded_page(stem);
  if (text.empty()) refuse(404, "not found");
  return {200, type, std::string(text), kPagePolicy};
}

Route page_route(const std::string& pattern, const std::string& type, const std::string& stem) {
  const auto show = [type, stem](const Request&, const Respond& respond) { respond(page_part(type, stem)); };
  return {"GET", pattern, Asks::kNothing, {}, show, Runs::kAtOnce};
}

/// Serves the page's scripts: modules that main.js imports.
void show_module(const Request& request, const Respond& respond) {
  constexpr std::string_view kEnd = ".js";
  const std::string& name = request.parameters.at("module");
  if (!ends_with(name, kEnd) || name == kEnd) refuse(404, "not found");
  respond(page_part("text/javascript; charset=utf-8", name.substr(0, name.size() - kEnd.size())));
}

}  // namespace

void Api::add_page_routes() {
  routes_.push_back(page_route("/", "text/html; charset=utf-8", "index"));
  routes_.push_back(page_route("/docs", "text/html; charset=utf-8", "reference"));
  routes_.push_back(page_route("/page.css", "text/css; charset=utf-8", "style"));
  routes_.push_back(page_route("/favicon.svg", "image/svg+xml", "favicon"));
  routes_.push_back({"GET", "/page/{module}", Asks::kNothing, {}, &show_module, Runs::kAtOnce});
}

}  // namespace protocom::http
