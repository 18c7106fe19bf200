#pragma once
#include <filesystem>

namespace protocom {

/// The file that this code was loaded from, without links: libprotocom.so, or the program where all is linked into one.
/// Empty if the loader does not say.
std::filesystem::path own_file();

}  // namespace protocom
