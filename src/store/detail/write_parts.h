#pragma once
#include <string>
#include <vector>

#include "io/artefact.h"
#include "store/detail/database.h"
#include "store/recognizer_file.h"

namespace protocom {

/// The artefact kind in a recognizer's header.
inline constexpr const char* kRecognizerKind = "recognizer";
/// The key of the recognizer's id (recognizer_id) in the header's details.
inline constexpr const char* kRecognizerId = "id";

/// Throws Error for artefacts that no recognizer has, and for two of one name. Names become file names (`recognizer
/// export`): an imported one must not lead to another folder.
void check_artefacts(const std::vector<RecognizerArtefact>& artefacts, const std::string& where);

/// Writes the header, the attributes and the artefacts of a file, within the caller's transaction. `id`: of the
/// recognizer. Throws Error for an artefact that is not a plain file or is too large.
void write_parts(const Database& database, const std::string& id, const RecognizerSettings& settings,
                 const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance);

}  // namespace protocom
