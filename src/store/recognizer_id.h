#pragma once
#include <string>

#include "io/artefact.h"
#include "store/recognizer_file.h"

namespace protocom {

/// 16 random hexadecimal digits for a new recognizer.
std::string new_recognizer_id();

/// What all states and copies of a recognizer's file have in common, and no other recognizer has: drawn when it was
/// made, kept when it is renewed in its place. Throws Error for a header without one.
std::string recognizer_id(const RecognizerFile& file);

/// A header without the id: the same for recognizers that were made in the same way.
nlohmann::json without_id(const ArtefactHeader& header);

}  // namespace protocom
