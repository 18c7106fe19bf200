#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace protocom::http {

/// The path of a request's target in its parts, each decoded: "/v1/classes/sea%2Flion" is "v1", "classes", "sea/lion".
/// Throws HttpError 400 for what is not an absolute path, has an empty part, a query, a wrong escape, a control
/// character or no UTF-8.
std::vector<std::string> path_of(std::string_view target);

/// A request's target without its query: "/v1/classify" of "/v1/classify?top=3".
std::string_view without_query(std::string_view target);

/// The query of a target by names, each decoded; empty if it has none: {"top": "3"}. Throws HttpError 400 for a
/// parameter without a name or "=", one that is there twice, a wrong escape, a control character or no UTF-8.
std::map<std::string, std::string> query_of(std::string_view target);

/// A text as a part of a path: "my%20birds" of "my birds".
std::string percent_encoded(std::string_view text);

/// Whether it is UTF-8 without control characters.
bool is_plain_text(std::string_view text);

}  // namespace protocom::http
