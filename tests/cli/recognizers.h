#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/pipeline.h"

namespace protocom::testing {

/// The objects of JSON lines.
std::vector<nlohmann::json> json_lines(const std::string& text);

/// The commands about recognizers, on the run's files.
class Recognizers : public Pipeline {
 protected:
  /// Files of the run that a recognizer is made of; what is fitted takes the model's place.
  inline static const std::vector<std::string> kParts = {"backbone", "model", "knowledge"};
  inline static const std::vector<std::string> kFittedParts = {"backbone", "knowledge"};

  /// `recognizer create FILE` with those parts and with what else is said.
  static Outcome create(const std::string& file, const std::vector<std::string>& more = {},
                        const std::vector<std::string>& parts = kParts);
  /// Such a recognizer of the first image of each of the first classes; returns these images.
  static std::vector<std::string> create_with_classes(const std::string& file, size_t classes);

  static std::vector<std::string> novel_classes();
  /// The run's images by their class, as paths below its folder of images.
  static std::map<std::string, std::vector<std::string>> images_by_class();
  /// Images of a recognizer, as `examples list` counts them.
  static int64_t images_in(const std::string& recognizer);
};

}  // namespace protocom::testing
