#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace protocom {

/// Accuracy in percent by the class mean on birds that are unknown to the encoder (CUB-100), 5-way, inductive; the
/// figures are in docs/results/data/encoders.json.
struct BirdAccuracy {
  double one_shot = 0;
  double five_shot = 0;
};

/// An encoder that others published: what is known of it before it is downloaded.
struct KnownEncoder {
  std::string name;
  std::string about;
  std::string license;
  int64_t megabytes = 0;                   ///< of its weights in float32, its text tower included; 0: not known
  int64_t pixels = 0;                      ///< side of its images
  int64_t dim = 0;                         ///< length of a feature
  std::optional<BirdAccuracy> birds = {};  ///< where it was measured
  std::string get = {};                    ///< a line of a shell, or what to do in words
};

/// The default one first.
const std::vector<KnownEncoder>& known_encoders();

}  // namespace protocom
