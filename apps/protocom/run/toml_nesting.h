#pragma once
#include <cstdint>
#include <string_view>

namespace protocom::cli {

/// The line from 1 where a key has more than `most` dotted parts, 0 where none has. For text that a TOML parser has not
/// seen yet: it would call itself once a part, until the stack is at its end.
int64_t line_of_deep_key(std::string_view toml, int64_t most);

}  // namespace protocom::cli
