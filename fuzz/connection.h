#pragma once
#include <filesystem>
#include <string_view>

namespace protocom::fuzz {

/// Bytes of a script that are not sent: a pause, in which arrived data is read, and the end of sending.
inline constexpr std::string_view kSteps{"\x01\x02", 2};

/// Plays a script of bytes and pauses on one connection to a server. Aborts if what comes back is not a response, or
/// the server does not answer another client afterwards.
void play_connection(const std::filesystem::path& path);

}  // namespace protocom::fuzz
