#pragma once
#include <string_view>

namespace protocom {

/// Returns a file of assets/page by its stem: "index", "style", "favicon", and the modules ("main", ...).
std::string_view embedded_page(std::string_view stem);
/// Returns a file of assets/server: "openapi".
std::string_view embedded_api(std::string_view stem);

}  // namespace protocom
