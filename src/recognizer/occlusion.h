#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "images/image.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// Patches a side of Occlusion.
inline constexpr int64_t kPatches = 7;

/// Which part of an image makes its answer: each of kPatches x kPatches patches is covered in turn, and what that takes
/// from the class is looked at (occlusion sensitivity: Zeiler and Fergus 2014, https://arxiv.org/abs/1311.2901). It
/// needs nothing of the encoder but its features.
struct Occlusion {
  std::string class_name;
  double probability = 0;  ///< of it, of the whole image, given that the image is of one of the classes
  /// [kPatches][kPatches], rows top to bottom, of the square that the encoder sees: what the class's log odds against
  /// all others lose when the patch is covered. Above 0: the patch speaks for the class, below 0: against it.
  std::vector<std::vector<double>> effects;
};

/// The image, and it with each patch covered by its mean colour, rows top to bottom: 1 + kPatches^2 images.
std::vector<Image> covered_in_turn(const Image& square);

/// Of the features of covered_in_turn(), float32 [1 + kPatches^2, d]. `class_name`: whose part is looked for; empty:
/// the most probable class. Throws Error for an unknown class, UsageError for a method that classifies images jointly,
/// and as Recognizer::classify().
Occlusion occlusion_of(Recognizer& recognizer, const Array& features, const std::string& class_name);

/// The same of an image file, by one batch of forward passes. Throws Error if it cannot be read.
Occlusion find_occlusion(Recognizer& recognizer, const std::filesystem::path& image,
                         const std::string& class_name = "");

/// Fields class, probability, effects.
nlohmann::json occlusion_json(const Occlusion& occlusion);

/// The map as text, a line a row: what speaks for the class from light to dark, by shares of the strongest patch.
std::string occlusion_text(const Occlusion& occlusion);

}  // namespace protocom
