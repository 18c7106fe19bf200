#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "recognizer/recognizer.h"

namespace protocom::cli {

/// Writes the features of classified images for other programs: a file as `extract` writes it, of novel classes, in
/// which the label of an image is the most probable class. A repeated image is written once.
class FeaturesOut {
 public:
  /// Throws Error if the file cannot be written there.
  explicit FeaturesOut(std::filesystem::path path);

  /// Adds features, float32 [n, d], before the answers to these images.
  void add(const Array& features);
  void add(const std::string& image, const Answer& answer);
  /// Writes nothing if there is no image.
  void write(Recognizer& recognizer, Provenance provenance) const;

 private:
  std::filesystem::path path_;
  std::vector<Array> rows_;  // [1, d] each
  std::vector<std::string> images_, answers_;
};

}  // namespace protocom::cli
