#pragma once
#include <filesystem>
#include <map>

#include "datasets/xmp_keywords.h"
#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Answers as keywords in the XMP sidecars of photos, which programs for photos read: photo.jpg.xmp, or photo.xmp where
/// that is there. A class whose title, or name, has levels (animals/birds/robin) is a keyword for each, and a
/// hierarchical one. An answer of none of the classes is not a keyword. Beside them is the probability, of several
/// boxes the smallest one.
class XmpSidecars {
 public:
  explicit XmpSidecars(Recognizer& recognizer) : recognizer_(recognizer) {}

  /// Of a photo, or of a box of one.
  void add(const std::filesystem::path& image, const Answer& answer);
  /// Writes those that change, and prints how many they are. A sidecar that is not XMP, or a link to nothing, stays
  /// as it is and is logged; how many those are is returned.
  [[nodiscard]] int64_t write() const;

 private:
  Recognizer& recognizer_;
  std::map<std::filesystem::path, XmpKeywords> keywords_;  // of photos
  int64_t of_none_ = 0;
};

}  // namespace protocom::cli
