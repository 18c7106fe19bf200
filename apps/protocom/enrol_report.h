#pragma once
#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Prints what was enrolled, and why images could not be read.
void print_enrolment(const Enrolment& done);

/// Throws Error with the number of unreadable images, if there are any. Call it after all output.
void check_all_read(const Enrolment& done);

/// Warns of each new class whose name differs from an older one only in spelling: case, underscores or hyphens for
/// spaces, a letter or two. `before`: the classes before the enrolment.
void warn_of_near_names(const Enrolment& done, const std::vector<ClassInfo>& before);

}  // namespace protocom::cli
