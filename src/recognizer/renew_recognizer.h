#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "io/artefact.h"
#include "protocom/recognizer_parts.h"

namespace protocom {

/// What a recognizer is given in place of its encoder.
struct RenewalParts {
  /// The new encoder, and the method where the old one was fitted on features of the old encoder. `images`,
  /// `attributes`, `class_names` and `unlabelled` stay empty; numbers of features, thumbnails and moments are the
  /// recognizer's own.
  RecognizerParts parts;
  /// Files and folders in which photos are looked for by their content, besides where they were when they were
  /// enrolled.
  std::vector<std::string> images = {};
};

/// What became of the photos.
struct Renewal {
  int64_t photos = 0;       ///< that have features by the new encoder
  int64_t forgotten = 0;    ///< removed ones that were not found: undo does not bring them back
  int64_t feature_dim = 0;  ///< of the new encoder
  int64_t former_dim = 0;   ///< of the old one
};

/// Writes a copy of a recognizer with another encoder to `out`, which may be its own path: every photo is found by its
/// content and goes through the new encoder. Classes, corrections, titles, thumbnails and history stay; calibrations
/// go, and a threshold of "none of these" is set as for a new recognizer. Throws Error if photos that are enrolled
/// are not found (with their number and one of them), UsageError where the method has to be given, and for classes that
/// are described by vectors of the old encoder's text encoder.
Renewal renew_recognizer(const std::filesystem::path& path, const std::filesystem::path& out, const RenewalParts& parts,
                         const Provenance& provenance, Progress& progress = Progress::none());

}  // namespace protocom
