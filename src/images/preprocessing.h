#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "images/resampling.h"

namespace protocom {

/// How an image is prepared for an encoder: the shorter side is resized to `resize` (or both sides, each by its own
/// factor: `squeeze`), the central square of `image_size` is cropped, and RGB in [0, 1] is normalised by `mean` and
/// `std`.
struct Preprocessing {
  int64_t image_size = 0;         ///< side length of the encoder's input in pixels; 0: unknown
  int64_t resize = 0;             ///< pixels of the shorter side before the crop; 0: image_size
  std::vector<double> mean = {};  ///< [3]; empty: none, the encoder takes plain RGB in [0, 1]
  std::vector<double> std = {};   ///< [3]; empty with `mean`
  Resampling resampling = Resampling::kBilinear;
  bool squeeze = false;  ///< the whole image becomes a square of `resize` pixels, ignoring its aspect ratio

  [[nodiscard]] int64_t shorter_side() const { return resize > 0 ? resize : image_size; }
  [[nodiscard]] bool normalises() const { return !mean.empty(); }
};

/// Compares; no normalisation equals mean 0 and standard deviation 1.
bool operator==(const Preprocessing& a, const Preprocessing& b);

/// Returns the same preprocessing for another image size, with the cropped border in proportion (256, 224 -> 128, 112).
Preprocessing at_size(const Preprocessing& preprocessing, int64_t image_size);

/// Returns "shorter side 256, crop 224, mean 0.485 0.456 0.406, std 0.229 0.224 0.225", for display.
std::string describe(const Preprocessing& preprocessing);

/// Parses a preset, changed by parameters: "imagenet", "clip:size=336:resize=336", "plain:size=64",
/// "imagenet:resampling=bicubic"; "half:squeeze" squeezes the whole image into the square. Presets, all bilinear:
///   plain     224, 224, RGB in [0, 1], no normalisation
///   imagenet  256, 224, ImageNet's mean and std: torchvision, timm's default, DINOv2
///   clip      224, 224, CLIP's mean and std
///   half      256, 224, mean and std 0.5: many of timm's ViT and Inception models
/// Throws UsageError for another name, parameter or value.
Preprocessing parse_preprocessing(const std::string& text);

/// Returns the fields image_size, resize, mean, std; resampling if it is not bilinear; squeeze if it is true.
nlohmann::json to_json(const Preprocessing& preprocessing);
/// Reads these fields; `where` names them in messages. Throws Error for fields of another type and values out of range.
Preprocessing preprocessing_from(const nlohmann::json& json, const std::string& where);
/// Reads them as written by a user; throws Error for unknown fields too.
Preprocessing stated_preprocessing(const nlohmann::json& json, const std::string& where);

/// Returns what is wrong with a channel's statistics of RGB in [0, 1]; empty: nothing. Recognises statistics of values
/// from 0 to 255, with which all images look alike.
std::string wrong_statistics(double mean, double std);

}  // namespace protocom
