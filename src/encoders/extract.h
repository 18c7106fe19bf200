#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "base/progress.h"
#include "datasets/feature_maps.h"
#include "datasets/feature_set.h"
#include "datasets/packed_images.h"
#include "encoders/encoder.h"
#include "images/given_image.h"
#include "images/image.h"
#include "jobs/process_group.h"

namespace protocom {

/// How features are computed.
struct ExtractOptions {
  int64_t batch = 64;           ///< images a forward pass
  std::string device = "auto";  ///< see EncoderTarget
  Precision precision =
      Precision::kFloat32;  ///< kFloat32 gives what the training framework gives; kAuto is faster on new processors
  std::filesystem::path scratch_folder;  ///< has room for feature maps; empty: the system's folder of temporary files
  const ProcessGroup* group = &ProcessGroup::single();  ///< the processes that share the images; all get all features
};

/// Prepares and freezes an encoder that is only used with these options from now on. Throws what extract_features
/// throws for its options.
void freeze_for(Encoder& encoder, const ExtractOptions& options);

/// f(x) of every packed image, in order and without augmentation (the paper's features). Prepares the
/// encoder for `options`. Labels, class names, splits and image ids are the pack's;
/// `backbone_hash` is the caller's to set. Throws Error when the pack is empty or a feature is NaN or infinite (with
/// the image's id), UsageError for a batch below 1, an unknown device or a precision that the device does not have.
FeatureSet extract_features(Encoder& encoder, const PackedImages& images, const ExtractOptions& options,
                            Progress& progress);

/// The feature maps of every packed image as float16, in order and without augmentation, kept in a nameless file of
/// `options.scratch_folder` until they are written (see scratch_array). Throws what extract_features throws, Error
/// when the encoder has no maps or a value is beyond float16, UsageError for a group of several processes.
FeatureMaps extract_feature_maps(Encoder& encoder, const PackedImages& images, const ExtractOptions& options,
                                 Progress& progress);

/// f(x) of a few decoded images of any size, each brought to the encoder's image size by resize_and_crop: float32 [n,
/// d] on the CPU. Throws Error when there is none.
Array extract_features(Encoder& encoder, const std::vector<Image>& images, const ExtractOptions& options = {});

/// The same of images that have been through decode_square_image or resize_and_crop with the encoder's preprocessing:
/// they are taken as they are. Throws Error for another size.
Array extract_square_features(Encoder& encoder, const std::vector<Image>& images, const ExtractOptions& options);

/// The same of images as callers give them, float32 [n, d]: those of a batch are decoded on all cores, then `passes` is
/// locked for the forward pass, so that several threads may share an encoder. Throws Error without an image, and that
/// names the one that cannot be read.
Array extract_given_images(Encoder& encoder, const GivenImages& images, const ExtractOptions& options,
                           std::mutex& passes, Progress& progress);

/// Warns where features [n, d] of different photos all point nearly the same way, by the mean cosine of all pairs: the
/// encoder sees no difference between them, most likely because they were prepared otherwise than it wants. Says
/// nothing of few images.
void warn_of_alike(const Array& features);

}  // namespace protocom
