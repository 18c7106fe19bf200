#pragma once
#include <filesystem>
#include <optional>

#include "base/progress.h"
#include "io/artefact.h"
#include "protocom/enrolment.h"
#include "protocom/recognizer_parts.h"

namespace protocom {

/// Makes a recognizer and enrols the classes of `parts.images`; where that fails there is no file. The encoder is found
/// as chosen_encoder says, so that it may be left out. Without model,
/// method and space, and without a space in the folder of the backbone, the enrolled images alone tell the classes
/// apart ('plda' before fitting). A model or method that says that it was made with another knowledge file, but takes
/// descriptions of the sizes that this one gives, is logged as a warning. Throws UsageError when a file is missing that
/// it needs, Error when files do not fit one another, and what RecognizerFile::create and Recognizer::enrol throw.
/// Returns what became of the classes, where there are images.
std::optional<Enrolment> create_recognizer(const std::filesystem::path& path, const RecognizerParts& parts,
                                           const Provenance& provenance, Progress& progress = Progress::none());

}  // namespace protocom
