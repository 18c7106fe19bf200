#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "base/progress.h"
#include "io/artefact.h"
#include "protocom/enrolment.h"
#include "protocom/recognizer_parts.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Makes a recognizer and enrols the classes of `parts.images`; where that fails there is no file. The encoder is found
/// as chosen_encoder says, so that it may be left out. Without model,
/// method and space, and without a space in the folder of the backbone, the enrolled images alone tell the classes
/// apart ('plda' before fitting). A model or method that says that it was made with another knowledge file, but takes
/// descriptions of the sizes that this one gives, is logged as a warning. Throws UsageError when a file is missing that
/// it needs, Error when files do not fit one another, and what RecognizerFile::create and Recognizer::enrol throw.
/// Returns what became of the classes, if there are images.
std::optional<Enrolment> create_recognizer(const std::filesystem::path& path, const RecognizerParts& parts,
                                           const Provenance& provenance, Progress& progress = Progress::none());

/// A recognizer that is about to be made.
struct NewRecognizer {
  RecognizerParts parts;  ///< with the encoder's path, its preprocessing and its space, where they were left out
  RecognizerSettings settings;
  std::vector<RecognizerArtefact> artefacts;
};

/// The settings and files of a recognizer of these parts, without its images. `classes`: photos by which its
/// preprocessing is chosen if nothing states it. Files that are written first go into `folder`. Throws what
/// create_recognizer throws for parts that do not fit one another.
NewRecognizer prepare_recognizer(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes,
                                 const Provenance& provenance, const std::filesystem::path& folder, Progress& progress);

}  // namespace protocom
