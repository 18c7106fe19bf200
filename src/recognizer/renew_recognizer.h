#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "io/artefact.h"
#include "protocom/recognizer_parts.h"

namespace protocom {

/// The parts that replace a recognizer's encoder.
struct RenewalParts {
  /// The new encoder, and the method if the old one was fitted on features of the old encoder. `images`, `attributes`,
  /// `class_names` and `unlabelled` must be empty; the precision of features, thumbnails and moments are the
  /// recognizer's own.
  RecognizerParts parts;
  /// Files and folders in which photos are searched by content, besides their paths at enrolment.
  std::vector<std::string> images = {};
};

/// What happened to the photos.
struct Renewal {
  int64_t photos = 0;       ///< number with features by the new encoder
  int64_t forgotten = 0;    ///< removed ones that were not found: undo cannot restore them
  int64_t feature_dim = 0;  ///< of the new encoder
  int64_t former_dim = 0;   ///< of the old one
};

/// Writes a copy of a recognizer with another encoder to `out`, which may be its own path: finds every photo by its
/// content and encodes it with the new encoder. Classes, corrections, titles, thumbnails and history stay; calibrations
/// are dropped, and a threshold of "none of these" is set as for a new recognizer. Throws Error if enrolled photos are
/// not found (with their number and one of them), UsageError if the method has to be given, and for classes that are
/// described by vectors of the old encoder's text encoder.
Renewal renew_recognizer(const std::filesystem::path& path, const std::filesystem::path& out, const RenewalParts& parts,
                         const Provenance& provenance, Progress& progress = Progress::none());

}  // namespace protocom
