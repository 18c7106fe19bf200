#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace protocom {

/// The bytes of a member of a zip archive that is stored as it is, in the archive's own bytes (APPNOTE.TXT of PKWARE,
/// 4.3 to 4.5; with the fields of 64 bits of large archives). Nothing if there is no such member, it is deflated or
/// encrypted, or the archive is damaged: libzip then says what is wrong.
std::optional<std::string_view> stored_member(std::string_view archive, const std::string& name);

}  // namespace protocom
