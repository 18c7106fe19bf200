#pragma once
#include <string>

namespace protocom::cli {

/// The C++ source that defines what launcher/pages.h declares: the answers to --version, to --help and to the --help of
/// every command.
std::string help_pages_source();

}  // namespace protocom::cli
