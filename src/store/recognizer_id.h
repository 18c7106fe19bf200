#pragma once
#include <string>

#include "io/artefact.h"
#include "store/recognizer_file.h"

namespace protocom {

/// Returns 16 random hexadecimal digits for a new recognizer.
std::string new_recognizer_id();

/// Returns the id common to all states and copies of a recognizer's file, and to no other recognizer: drawn at its
/// creation, kept when it is renewed in place. Throws Error for a header without one.
std::string recognizer_id(const RecognizerFile& file);

/// Returns a header without the id: equal for recognizers that were made in the same way.
nlohmann::json without_id(const ArtefactHeader& header);

}  // namespace protocom
