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

/// How an encoder does with one preprocessing.
struct PreprocessingTrial {
  std::string preset;           ///< as parse_preprocessing takes it
  Preprocessing preprocessing;  ///< what that is
  std::vector<double> right;    ///< [n], 100 or 0: what right_by_nearest_mean says of each image
};

/// Which images are looked at, and for what.
struct PreprocessingTrials {
  std::string architecture = NetworkOptions().architecture;  ///< of a bare state dict, see EncoderFileOptions
  std::string output = {};                                   ///< see EncoderFileOptions
  std::vector<std::string> presets;                          ///< see common_presets()
  int64_t classes = 20;                                      ///< of base, at most
  int64_t images = 10;                                       ///< of each of them, at most
  ExtractOptions extract = {};
};

/// "plain:size=224", "imagenet", ...: all presets, at this size of the image.
std::vector<std::string> common_presets(int64_t image_size);

/// Base classes and images of each, evenly spread over the dataset; classes of one image are left out.
ImageDataset few_base_images(const ImageDataset& dataset, int64_t classes, int64_t images);

/// Whether an image's own class has the nearest mean by cosine, its own image left out of it, where features are less
/// their mean over classes: 100 or 0 for each, [n]. Every class needs two images.
std::vector<double> right_by_nearest_mean(const FeatureSet& features);

/// An encoder that does not say what images it takes, with one preprocessing after the other, on the same images of
/// base classes; those that cannot be read are left out for all. Throws UsageError for an unknown preset and for a file
/// that states itself what it takes, Error where fewer than two base classes have two images, and what open_encoder,
/// pack_images and extract_features throw.
std::vector<PreprocessingTrial> try_preprocessing(const std::filesystem::path& encoder, const ImageDataset& dataset,
                                                  const PreprocessingTrials& trials, Progress& progress);

}  // namespace protocom
