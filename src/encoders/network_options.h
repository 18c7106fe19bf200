#pragma once
#include <cstdint>
#include <string>

#include "images/preprocessing.h"

namespace protocom {

/// The largest side of images that an encoder takes, in pixels, which bounds the memory that a file can request.
inline constexpr int64_t kLargestImage = 1024;

/// The construction of a backbone: its images, which it always normalises, and the network.
struct NetworkOptions : Preprocessing {
  /// "resnet12" (64-128-256-512), "resnet12-wide" (64-160-320-640), "conv4"; "resnet18", "resnet34", "resnet50",
  /// "resnet101", "resnet152" as in torchvision and timm; "vit:..." as in timm and DINOv2, which is only derived from a
  /// state dict.
  std::string architecture = "resnet12";

  /// Images of 84 pixels with the authors' mean and standard deviation of RGB in [0, 1].
  NetworkOptions()
      : Preprocessing{
            84, 0, {120.396 / 255, 115.594 / 255, 104.540 / 255}, {70.682 / 255, 68.276 / 255, 72.545 / 255}} {}
  /// Takes sizes and normalisation; none becomes mean 0 and std 1.
  void set(const Preprocessing& preprocessing);
};

}  // namespace protocom
