#pragma once
#include <string_view>

namespace protocom {

/// Whether a text is an identifier of 8-4-4-4-12 hexadecimal digits (RFC 9562), in any case.
bool is_uuid(std::string_view text);

}  // namespace protocom
