#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace protocom {

/// Returns the bytes of an uncompressed member of a zip archive, in the archive's own bytes (APPNOTE.TXT of PKWARE, 4.3
/// to 4.5; with the 64-bit fields of large archives). Nothing if there is no such member, it is deflated or encrypted,
/// or the archive is damaged: libzip then reports the fault.
std::optional<std::string_view> stored_member(std::string_view archive, const std::string& name);

}  // namespace protocom
