#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "datasets/image_dataset.h"
#include "encoders/extract.h"
#include "images/preprocessing.h"

namespace protocom {

/// The result of an encoder with one preprocessing.
struct PreprocessingTrial {
  std::string preset;           ///< as for parse_preprocessing
  Preprocessing preprocessing;  ///< the parsed preset
  std::vector<double> right;    ///< [n], 100 or 0: right_by_nearest_mean of each image
};

/// The images and presets of a trial.
struct PreprocessingTrials {
  std::string architecture = NetworkOptions().architecture;  ///< for a bare state dict, see EncoderFileOptions
  std::string output = {};                                   ///< see EncoderFileOptions
  std::vector<std::string> presets;                          ///< see common_presets()
  int64_t classes = 20;                                      ///< base classes, at most
  int64_t images = 10;                                       ///< images of each, at most
  ExtractOptions extract = {};
};

/// Returns "plain:size=224", "imagenet", ...: all presets, at this image size.
std::vector<std::string> common_presets(int64_t image_size);

/// Returns base classes and images of each, evenly sampled from the dataset; classes of one image are left out.
ImageDataset few_base_images(const ImageDataset& dataset, int64_t classes, int64_t images);

/// Returns whether an image's own class has the nearest mean by cosine, with the image itself left out, after
/// subtracting the mean over classes from features: 100 or 0 for each, [n]. Every class needs two images.
std::vector<double> right_by_nearest_mean(const FeatureSet& features);

/// Tries an encoder that does not state its preprocessing with each preprocessing, on the same images of base classes;
/// unreadable ones are left out for all. Throws UsageError for an unknown preset and for a file that states its
/// preprocessing, Error if fewer than two base classes have two images, and what open_encoder, pack_images and
/// extract_features throw.
std::vector<PreprocessingTrial> try_preprocessing(const std::filesystem::path& encoder, const ImageDataset& dataset,
                                                  const PreprocessingTrials& trials, Progress& progress);

}  // namespace protocom
