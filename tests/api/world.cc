#include "api/world.h"

#include <ATen/ATen.h>

#include "datasets/feature_set.h"
#include "images/image.h"
#include "io/files.h"
#include "knowledge/knowledge.h"
#include "networks/backbone.h"
#include "recognizer/store_support.h"
#include "support/clip_folder.h"
#include "tensors/tensors.h"

namespace protocom::testing {

std::vector<uint8_t> pixels(uint8_t red, uint8_t blue, int seed) {
  std::vector<uint8_t> rgb(kSide * kSide * 3);
  for (size_t i = 0; i < rgb.size(); i += 3) {
    const auto noise = static_cast<uint8_t>((i * 7 + static_cast<size_t>(seed) * 13) % 11);
    rgb[i] = static_cast<uint8_t>(red + noise);
    rgb[i + 1] = noise;
    rgb[i + 2] = static_cast<uint8_t>(blue + noise);
  }
  return rgb;
}

std::string png(uint8_t red, uint8_t blue, int seed) { return encode_png({kSide, kSide, pixels(red, blue, seed)}); }

std::string photo(const std::string& path, uint8_t red, uint8_t blue, int seed) {
  write_file(path, png(red, blue, seed));
  return path;
}

std::string clip(const std::string& path) {
  write_clip(path);
  return path;
}

std::string encoder(const std::string& path) {
  at::manual_seed(3);
  NetworkOptions options;
  options.architecture = "conv4";
  options.image_size = kSide;
  write_backbone(path, *make_backbone(options), options, {});
  return path;
}

std::string knowledge(const std::string& path) {
  Knowledge known;
  known.classes = {"cardinal", "bluebird"};
  known.attributes = {"red", "blue"};
  known.association = array_of(at::eye(2));
  known.class_embedding = array_of(at::eye(2));
  known.attribute_embedding = array_of(at::eye(2));
  write_knowledge(path, known, {}, nlohmann::json::object());
  return path;
}

std::string features(const std::string& path) {
  at::manual_seed(4);
  constexpr int64_t kClasses = 6, kImages = 12, kDim = 6;
  FeatureSet set;
  set.labels = numbers_of(at::arange(kClasses, at::kLong).repeat_interleave(kImages));
  set.features =
      array_of(3 * at::randn({kClasses, kDim}).repeat_interleave(kImages, 0) + at::randn({kClasses * kImages, kDim}));
  for (int64_t k = 0; k < kClasses; ++k) {
    set.class_names.push_back(std::to_string(k));
    set.class_split.push_back(k < kClasses / 2 ? Split::kBase : Split::kNovel);
  }
  write_features(path, checked_feature_set(std::move(set), "features"), {});
  return path;
}

std::string completion_model(const std::string& path) {
  write_completion_model(path, constant_model(std::vector<float>(6)), {}, {});
  return path;
}

}  // namespace protocom::testing
