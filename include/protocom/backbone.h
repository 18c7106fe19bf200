#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocom/image.h"
#include "protocom/progress.h"
#include "protocom/rows.h"

namespace protocom::v0 {

/// Options for opening an encoder.
struct BackboneOptions {
  /// Preprocessing of images, if the file does not state it: "imagenet", "clip:size=336", "plain:size=84"
  /// (docs/encoders.md). Empty: as the file states.
  std::string preprocessing = {};
  std::string device = "auto";  ///< "cpu", "cuda", "cuda:1"
  int64_t batch = 64;           ///< images per forward pass
};

/// An image encoder. May be used from several threads: images are decoded in parallel, forward passes run one at a
/// time.
class PROTOCOM_API Backbone {
 public:
  /// Opens an encoder (docs/encoders.md) by its path, or by its name if it is installed; empty: the default one. Throws
  /// Error for a file that is no encoder or whose preprocessing is unknown; UsageError for invalid options.
  explicit Backbone(const std::string& path, const BackboneOptions& options = {});
  ~Backbone();
  Backbone(Backbone&& other) noexcept;
  Backbone& operator=(Backbone&& other) noexcept;

  /// Number of dimensions d of a feature.
  [[nodiscard]] int64_t dim() const;
  /// Side length of the encoder's input in pixels; images of any size are resized to it.
  [[nodiscard]] int64_t image_size() const;
  /// Description for display: "shorter side 256, crop 224, mean ...".
  [[nodiscard]] std::string preprocessing() const;
  /// Returns the features of images, float32 [n, d]. Throws Error for an unreadable image, which it names, and for no
  /// images.
  [[nodiscard]] Matrix extract(const std::vector<Image>& images, const Progress& progress = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom::v0
