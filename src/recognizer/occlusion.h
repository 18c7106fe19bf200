#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "images/image.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Patches per side in Occlusion.
inline constexpr int64_t kPatches = 7;

/// The parts of an image that determine its answer: each of kPatches x kPatches patches is covered in turn, and the
/// effect on the class is measured (occlusion sensitivity: Zeiler and Fergus 2014, https://arxiv.org/abs/1311.2901). It
/// needs only the encoder's features.
struct Occlusion {
  std::string class_name;
  double probability = 0;  ///< of that class for the whole image, given that the image is of one of the classes
  /// [kPatches][kPatches], rows top to bottom, of the square that the encoder sees: the decrease in the class's log
  /// odds against all others when the patch is covered. Above 0: the patch is evidence for the class, below 0: against
  /// it.
  std::vector<std::vector<double>> effects;
};

/// Returns the image, and copies with each patch covered by its mean colour, rows top to bottom: 1 + kPatches^2 images.
std::vector<Image> covered_in_turn(const Image& square);

/// Computes the occlusion from the features of covered_in_turn(), float32 [1 + kPatches^2, d]. `class_name`: the class
/// to explain; empty: the most probable one. Throws Error for an unknown class, UsageError for a method that classifies
/// images jointly, and as Recognizer::classify().
Occlusion occlusion_of(Recognizer& recognizer, const Array& features, const std::string& class_name);

/// Computes the occlusion of an image file, by one batch of forward passes. Throws Error if it cannot be read.
Occlusion find_occlusion(Recognizer& recognizer, const std::filesystem::path& image,
                         const std::string& class_name = "");

/// Returns the fields class, probability, effects.
nlohmann::json occlusion_json(const Occlusion& occlusion);

/// Returns the map as text, one line per row: evidence for the class from light to dark, relative to the strongest
/// patch.
std::string occlusion_text(const Occlusion& occlusion);

}  // namespace protocom
