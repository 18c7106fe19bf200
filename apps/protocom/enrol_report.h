#pragma once
#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Prints what was enrolled. Throws Error after that when images could not be read.
void print_enrolment(const Enrolment& done);

}  // namespace protocom::cli
