#pragma once
#include <string_view>

namespace protocom {

/// The files of assets/page by their stems: "index", "style", "favicon", and the modules ("main", ...).
std::string_view embedded_page(std::string_view stem);
/// "openapi", of assets/server.
std::string_view embedded_api(std::string_view stem);

}  // namespace protocom
