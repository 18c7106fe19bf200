#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "datasets/xmp_keywords.h"
#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Writes answers as keywords into the XMP sidecars of photos, which photo programs read: photo.jpg.xmp, or photo.xmp
/// if that exists. A class with levels (keyword_levels: animals/birds/robin) becomes a keyword for each level, and
/// a hierarchical one; an answer's group becomes those of its levels. An answer "none of these" adds no keyword. The
/// probability is written too, for several boxes the smallest one.
class XmpSidecars {
 public:
  explicit XmpSidecars(Recognizer& recognizer);

  /// Adds the answer for a photo, or for a box of one.
  void add(const std::filesystem::path& image, const Answer& answer);
  /// Writes the sidecars that change, and prints their number. A sidecar that is not XMP, or a dangling link, is left
  /// unchanged and logged; returns the number of these.
  [[nodiscard]] int64_t write() const;

 private:
  [[nodiscard]] std::vector<std::string> levels_of(const Answer& answer) const;

  Recognizer& recognizer_;
  std::map<std::string, std::string> groups_;              // of classes, RecognizerOptions::groups
  std::map<std::filesystem::path, XmpKeywords> keywords_;  // by photo
  int64_t of_none_ = 0;
};

}  // namespace protocom::cli
