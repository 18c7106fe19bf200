#pragma once
#include <string_view>

namespace protocom {

/// Whether the bytes are text in UTF-8, as JSON needs it (RFC 3629: no surrogates, nothing longer than it need be).
bool is_utf8(std::string_view text);

}  // namespace protocom
