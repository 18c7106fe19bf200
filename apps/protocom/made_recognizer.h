#pragma once
#include <string>

#include "protocom/enrolment.h"
#include "protocom/recognizer_parts.h"
#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Prints what a recognizer just created from these parts contains, and its expected accuracy. Throws what
/// print_enrolment throws.
void print_made(const std::string& file, const RecognizerParts& parts, const Enrolment& enrolled);

/// Returns the expected accuracy on new photos, in one sentence. `parts`: those that the recognizer was made from.
std::string expected_sentence(Recognizer& recognizer, const RecognizerParts& parts);

}  // namespace protocom::cli
