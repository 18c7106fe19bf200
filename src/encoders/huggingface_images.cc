#include "encoders/huggingface_images.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/json_text.h"
#include "encoders/config_json.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom::huggingface {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProcessor = "processor_config.json";

/// The length of sides; 0: not stated.
struct StatedSide {
  int64_t pixels = 0;
  bool squeezes = false;
};

/// Returns "ConvNextImageProcessor", as named in files of several versions.
std::string processor_of(const nlohmann::json& stated) {
  for (const char* name : {"image_processor_type", "feature_extractor_type"}) {
    const auto found = stated.find(name);
    if (found != stated.end() && found->is_string()) return found->get<std::string>();
  }
  return "";
}

bool is_processor(const nlohmann::json& stated, const std::vector<std::string>& families) {
  const std::string name = processor_of(stated);
  return std::any_of(families.begin(), families.end(),
                     [&](const std::string& family) { return name.rfind(family, 0) == 0; });
}

/// Reads 224, {"shortest_edge": 224} or {"height": 224, "width": 224}.
StatedSide read_side(const nlohmann::json& stated, const char* name) {
  const auto found = stated.find(name);
  if (found == stated.end() || found->is_null()) return {};
  const auto whole = [&](const nlohmann::json& value) {
    if (!value.is_number_integer())
      fail("{}: '{}': expected a whole number of pixels, found {}", kImages, name, excerpt(json_text(*found)));
    return value.get<int64_t>();
  };
  if (!found->is_object()) return {whole(*found), is_processor(stated, {"ViT", "DeiT", "Siglip", "DINOv3"})};
  if (found->contains("shortest_edge")) return {whole(found->at("shortest_edge")), false};
  if (!found->contains("height") || !found->contains("width") || found->at("height") != found->at("width"))
    fail("{}: '{}': expected a square, found {}", kImages, name, excerpt(json_text(*found)));
  return {whole(found->at("height")), true};
}

std::vector<double> three(const nlohmann::json& stated, const char* name) {
  const auto found = stated.find(name);
  if (found == stated.end() || !found->is_array() || found->size() != 3)
    fail("{}: missing '{}', expected three numbers", kImages, name);
  std::vector<double> values;
  for (const auto& item : *found) values.push_back(item.is_number() ? item.get<double>() : std::nan(""));
  return values;
}

/// Sets the sides for ConvNeXt's processor, which crops its smaller images from larger ones, and squeezes the larger
/// ones.
void take_convnext_sides(const nlohmann::json& stated, Preprocessing& images) {
  constexpr int64_t kLarge = 384;
  constexpr double kUsualShare = 224.0 / 256;
  const bool says = stated.contains("crop_pct") && !stated.at("crop_pct").is_null();
  if (!says && !is_processor(stated, {"ConvNext"})) return;
  const double share = config_number(stated, "crop_pct", kUsualShare);
  if (!(share > 0.1 && share <= 1))
    fail("{}: crop_pct: expected more than 0.1 and at most 1, found {}", kImages, share);
  images.squeeze = images.image_size >= kLarge;
  if (!images.squeeze) images.resize = static_cast<int64_t>(static_cast<double>(images.image_size) / share);
}

void take_sides(const nlohmann::json& stated, Preprocessing& images) {
  const StatedSide size = read_side(stated, "size");
  const int64_t crop = config_flag(stated, "do_center_crop", false) ? read_side(stated, "crop_size").pixels : 0;
  images.image_size = crop > 0 ? crop : size.pixels;
  images.squeeze = size.squeezes;
  if (crop > 0)
    images.resize = size.pixels;
  else if (!size.squeezes)
    take_convnext_sides(stated, images);
  if (images.resize == images.image_size) images.resize = 0;
  if (images.resize != 0 && images.resize < images.image_size)
    fail("{}: the crop of {} pixels is larger than the image of {}", kImages, images.image_size, images.resize);
}

}  // namespace

std::optional<std::string> images_text(const fs::path& folder) {
  if (fs::exists(folder / kImages)) return read_file(folder / kImages);
  if (!fs::exists(folder / kProcessor)) return std::nullopt;
  const auto whole = parse_json(read_file(folder / kProcessor), (folder / kProcessor).string());
  if (!whole.is_object() || !whole.contains("image_processor")) return std::nullopt;
  return json_text(whole.at("image_processor"));
}

Preprocessing preprocessing_of(const nlohmann::json& stated) {
  if (!stated.is_object()) fail("{} is not an object", kImages);
  if (stated.contains("max_num_patches") && stated.at("max_num_patches").is_number())
    fail(
        "{}: networks for images of any size (SigLIP 2 NaFlex) are not supported: use one for images of one size, such "
        "as google/siglip2-base-patch16-224",
        kImages);
  Preprocessing images;
  take_sides(stated, images);
  if (stated.contains("resample") && stated.at("resample").is_number_integer())
    images.resampling = resampling_of_pillow(stated.at("resample").get<int64_t>());
  const double factor = config_number(stated, "rescale_factor", 1.0 / 255);
  if (!config_flag(stated, "do_rescale", true) || std::abs(factor * 255 - 1) > 1e-3)
    fail("{}: rescale_factor {} is not supported, expected 1/255", kImages, factor);
  if (config_flag(stated, "do_normalize", true)) {
    images.mean = three(stated, "image_mean");
    images.std = three(stated, "image_std");
  }
  return preprocessing_from(to_json(images), kImages);  // checks the ranges
}

std::optional<std::string> images_text_beside(const fs::path& onnx_file) {
  const fs::path folder = fs::absolute(onnx_file).parent_path();
  std::optional<std::string> text = images_text(folder);
  if (!text && folder.filename() == "onnx") text = images_text(folder.parent_path());
  return text;
}

Preprocessing preprocessing_beside(const fs::path& onnx_file) {
  const std::optional<std::string> text = images_text_beside(onnx_file);
  if (!text) return {};
  return reading(onnx_file, [&] { return preprocessing_of(parse_json(*text, kImages)); });
}

fs::path onnx_of_folder(const fs::path& folder) {
  for (const char* weights : {"model.safetensors", "model.safetensors.index.json"}) {
    if (fs::exists(folder / weights)) return {};
  }
  for (const char* name : {"onnx/model.onnx", "model.onnx"}) {
    if (fs::is_regular_file(folder / name)) return folder / name;
  }
  return {};
}

}  // namespace protocom::huggingface
