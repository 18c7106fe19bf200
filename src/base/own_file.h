#pragma once
#include <filesystem>

namespace protocom {

/// Returns the file that this code was loaded from, with links resolved: libprotocom.so, or the program if all is
/// linked into one. Empty if the loader does not state it.
std::filesystem::path own_file();

/// Returns the resolved path of a library beside own_file(); empty if it must not be loaded: it or its folder belongs
/// neither to the system, nor to this process's user, nor to the owner of own_file() or its folder. In a folder where
/// everybody may create files, such as /tmp, another user may create a file of that name.
std::filesystem::path trusted_library(const std::filesystem::path& library);

}  // namespace protocom
