#pragma once
#include <string>

#include "protocom/enrolment.h"
#include "protocom/recognizer_parts.h"
#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Prints what a recognizer holds that was just made of these parts, and how many of new photos should be right. Throws
/// what print_enrolment throws.
void print_made(const std::string& file, const RecognizerParts& parts, const Enrolment& enrolled);

/// How many of new photos should be right, in one sentence. `parts`: those that it was made of.
std::string expected_sentence(Recognizer& recognizer, const RecognizerParts& parts);

}  // namespace protocom::cli
