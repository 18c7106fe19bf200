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

/// Creates a recognizer and enrols the classes of `parts.images`; leaves no file on failure. The encoder is found by
/// chosen_encoder, so it may be left out. Without model, method and space, and without a space in the backbone's
/// folder, the enrolled images alone distinguish the classes ('plda' without fitting). Logs a warning if a model or
/// method was made with another knowledge file but takes descriptions of the sizes given by this one. Throws UsageError
/// if a required file is missing, Error if files do not match one another, and what RecognizerFile::create and
/// Recognizer::enrol throw. Returns the result of the enrolment, if there are images.
std::optional<Enrolment> create_recognizer(const std::filesystem::path& path, const RecognizerParts& parts,
                                           const Provenance& provenance, Progress& progress = Progress::none());

/// A recognizer to be created.
struct NewRecognizer {
  RecognizerParts parts;  ///< completed with the encoder's path, preprocessing and space, if these were left out
  RecognizerSettings settings;
  std::vector<RecognizerArtefact> artefacts;
};

/// Prepares the settings and files of a recognizer of these parts, without its images. `classes`: photos by which the
/// preprocessing is chosen if nothing states it. Intermediate files go into `folder`. Throws what create_recognizer
/// throws for parts that do not match one another.
NewRecognizer prepare_recognizer(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes,
                                 const Provenance& provenance, const std::filesystem::path& folder, Progress& progress);

}  // namespace protocom
