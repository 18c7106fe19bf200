#pragma once
#include <string_view>

namespace protocom::cli {

/// Makes sure that the descriptors 0 to 2 exist, so that no file of ours gets their numbers and messages; and that a
/// reader who has seen enough (`| head`) ends nothing: what is printed for it is dropped. Call it before anything is
/// opened.
void prepare_standard_streams();

/// Prints results that may have colours: what is of files in them must be made safe (one_line), for nothing else is.
void print_coloured(std::string_view text);

/// Writes to standard error. What cannot be written there is lost.
void say(std::string_view text);

}  // namespace protocom::cli
