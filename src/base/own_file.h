#pragma once
#include <filesystem>

namespace protocom {

/// The file that this code was loaded from, without links: libprotocom.so, or the program where all is linked into one.
/// Empty if the loader does not say.
std::filesystem::path own_file();

/// The path without links of a library that lies beside own_file(); empty if it may not be loaded: it or its folder
/// belongs neither to the system, nor to this process's user, nor to the owner of own_file() or its folder. In a folder
/// where everybody may create files, such as /tmp, another user may give a file that name.
std::filesystem::path trusted_library(const std::filesystem::path& library);

}  // namespace protocom
