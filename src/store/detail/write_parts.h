#pragma once
#include <string>
#include <vector>

#include "io/artefact.h"
#include "store/detail/database.h"
#include "store/recognizer_file.h"

namespace protocom {

/// What the header of a recognizer calls it.
inline constexpr const char* kRecognizerKind = "recognizer";
/// Where its details have the id of the recognizer (recognizer_id).
inline constexpr const char* kRecognizerId = "id";

/// Throws Error for artefacts that no recognizer has, and for two of one name. Names become those of files (`recognizer
/// export`): one from outside must not lead to another folder.
void check_artefacts(const std::vector<RecognizerArtefact>& artefacts, const std::string& where);

/// Makes these the header, the attributes and the artefacts of a file, within the caller's transaction. `id`: of the
/// recognizer. Throws Error for an artefact that is not a plain file or too large.
void write_parts(const Database& database, const std::string& id, const RecognizerSettings& settings,
                 const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance);

}  // namespace protocom
