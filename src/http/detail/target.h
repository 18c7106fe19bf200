#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace protocom::http {

/// The path of a request's target in its parts, each decoded: "/v1/classes/sea%2Flion" is "v1", "classes", "sea/lion".
/// Throws HttpError 400 for what is no absolute path, has an empty part, a query, a wrong escape, a control character
/// or no UTF-8.
std::vector<std::string> path_of(std::string_view target);

/// Whether it is UTF-8 without control characters.
bool is_plain_text(std::string_view text);

}  // namespace protocom::http
