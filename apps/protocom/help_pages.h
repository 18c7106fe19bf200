#pragma once
#include <string>

namespace protocom::cli {

/// Returns the C++ source that defines the declarations of launcher/pages.h: the answers to --version, to --help and to
/// the --help of every command.
std::string help_pages_source();

}  // namespace protocom::cli
