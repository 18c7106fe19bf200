#pragma once
#include <filesystem>
#include <string_view>

namespace protocom::fuzz {

/// Bytes of a script that are not sent: a pause, in which what has come is read, and the end of sending.
inline constexpr std::string_view kSteps{"\x01\x02", 2};

/// Plays a script of bytes and pauses on one connection to a server. Aborts when what comes back is no response or the
/// server does not answer another client after it.
void play_connection(const std::filesystem::path& path);

}  // namespace protocom::fuzz
