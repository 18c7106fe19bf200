#pragma once
#include <string_view>

namespace protocom {

/// The files of assets/page by their stems: "index", "page_style", "page_script".
std::string_view embedded_page(std::string_view stem);
/// "openapi", of assets/server.
std::string_view embedded_api(std::string_view stem);

}  // namespace protocom
