#pragma once
#include <string_view>

namespace protocom::cli {

/// Makes sure that the descriptors 0 to 2 exist, so that no file of ours gets their numbers and messages; and that a
/// reader that closes the pipe (`| head`) does not end the program: further output is dropped. Call it before anything
/// is opened.
void prepare_standard_streams();

/// Prints results that may have colours: text from files in them must be made safe first (one_line), since it bypasses
/// the filter.
void print_coloured(std::string_view text);

/// Writes to standard error. Failures are ignored.
void say(std::string_view text);

}  // namespace protocom::cli
