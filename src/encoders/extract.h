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

/// Options for computing features.
struct ExtractOptions {
  int64_t batch = 64;           ///< images per forward pass
  std::string device = "auto";  ///< see EncoderTarget
  Precision precision =
      Precision::kFloat32;               ///< kFloat32 matches the training framework; kAuto is faster on new processors
  std::filesystem::path scratch_folder;  ///< has space for feature maps; empty: the system's for temporary files
  const ProcessGroup* group = &ProcessGroup::single();  ///< the processes that share the images; all get all features
};

/// Prepares and freezes an encoder that is only used with these options from now on. Throws what extract_features
/// throws for its options.
void freeze_for(Encoder& encoder, const ExtractOptions& options);

/// Computes f(x) of every packed image, in order and without augmentation (the paper's features). Prepares the encoder
/// for `options`. Labels, class names, splits and image ids are the pack's; the caller sets `backbone_hash`. Throws
/// Error if the pack is empty or a feature is NaN or infinite (with the image's id), UsageError for a batch below 1, an
/// unknown device or a precision that the device does not have.
FeatureSet extract_features(Encoder& encoder, const PackedImages& images, const ExtractOptions& options,
                            Progress& progress);

/// Computes the feature maps of every packed image as float16, in order and without augmentation, kept in an unnamed
/// file of `options.scratch_folder` until they are written (see scratch_array). Throws what extract_features throws,
/// Error if the encoder has no maps or a value exceeds float16, UsageError for a group of several processes.
FeatureMaps extract_feature_maps(Encoder& encoder, const PackedImages& images, const ExtractOptions& options,
                                 Progress& progress);

/// Computes f(x) of a few decoded images of any size, each resized and cropped to the encoder's image size by
/// resize_and_crop: float32 [n, d] on the CPU. Throws Error without images.
Array extract_features(Encoder& encoder, const std::vector<Image>& images, const ExtractOptions& options = {});

/// Does so for images already prepared by decode_square_image or resize_and_crop with the encoder's preprocessing,
/// which are used unchanged. Throws Error for another size.
Array extract_square_features(Encoder& encoder, const std::vector<Image>& images, const ExtractOptions& options);

/// Does so for images given by callers, float32 [n, d]: each batch is decoded on all cores, then `passes` is locked for
/// the forward pass, so that several threads may share an encoder. Throws Error without images, and for an unreadable
/// one, which it names.
Array extract_given_images(Encoder& encoder, const GivenImages& images, const ExtractOptions& options,
                           std::mutex& passes, Progress& progress);

/// Warns if features [n, d] of different photos are nearly parallel, by the mean cosine of all pairs: the encoder does
/// not distinguish them, most likely because of a wrong preprocessing. Does nothing for few images.
void warn_of_alike(const Array& features);

}  // namespace protocom
