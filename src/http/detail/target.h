#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace protocom::http {

/// Splits the path of a request's target into its parts, each decoded: "/v1/classes/sea%2Flion" gives "v1", "classes",
/// "sea/lion". Throws HttpError 400 for a target that is not an absolute path, has an empty part, a query, a wrong
/// escape, a control character or invalid UTF-8.
std::vector<std::string> path_of(std::string_view target);

/// Returns a request's target without its query: "/v1/classify" for "/v1/classify?top=3".
std::string_view without_query(std::string_view target);

/// Returns the query of a target by name, each value decoded; empty if it has none: {"top": "3"}. Throws HttpError 400
/// for a parameter without a name or "=", one that occurs twice, a wrong escape, a control character or invalid UTF-8.
std::map<std::string, std::string> query_of(std::string_view target);

/// Encodes a text as a part of a path: "my%20birds" for "my birds".
std::string percent_encoded(std::string_view text);

/// Whether a text is UTF-8 without control characters.
bool is_plain_text(std::string_view text);

}  // namespace protocom::http
