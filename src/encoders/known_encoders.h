#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace protocom {

/// Accuracy in percent, by nearest class mean, on birds that are unknown to the encoder (CUB-100), 5-way, inductive;
/// the figures are in docs/results/data/encoders.json.
struct BirdAccuracy {
  double one_shot = 0;
  double five_shot = 0;
};

/// A published encoder, described so that users can choose before downloading.
struct KnownEncoder {
  std::string name;
  std::string about;
  std::string license;
  int64_t megabytes = 0;                   ///< size of its weights in float32, including its text tower; 0: unknown
  int64_t pixels = 0;                      ///< side length of its images
  int64_t dim = 0;                         ///< dimension of a feature
  std::optional<BirdAccuracy> birds = {};  ///< if measured
  std::string get = {};                    ///< a shell command, or instructions in words
};

/// Returns the known encoders, the default one first.
const std::vector<KnownEncoder>& known_encoders();

}  // namespace protocom
