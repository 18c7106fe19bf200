#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/pipeline.h"

namespace protocom::testing {

/// Parses the objects of JSON lines.
std::vector<nlohmann::json> json_lines(const std::string& text);

/// Commands about recognizers, on the run's files.
class Recognizers : public Pipeline {
 protected:
  /// Files of the run from which a recognizer is made; a fitted method replaces the model.
  inline static const std::vector<std::string> kParts = {"backbone", "model", "knowledge"};
  inline static const std::vector<std::string> kFittedParts = {"backbone", "knowledge"};

  /// Runs `recognizer create FILE` with those parts and further arguments.
  static Outcome create(const std::string& file, const std::vector<std::string>& more = {},
                        const std::vector<std::string>& parts = kParts);
  /// Creates a recognizer of the first image of each of the first classes; returns these images.
  static std::vector<std::string> create_with_classes(const std::string& file, size_t classes);

  static std::vector<std::string> novel_classes();
  /// Returns the run's images by class, as paths below its folder of images.
  static std::map<std::string, std::vector<std::string>> images_by_class();
  /// Returns the number of images of a recognizer, as counted by `examples list`.
  static int64_t images_in(const std::string& recognizer);
};

}  // namespace protocom::testing
