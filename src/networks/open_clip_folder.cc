#include "networks/detail/open_clip_folder.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "encoders/chosen_preprocessing.h"
#include "io/files.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "networks/huggingface/detail/translated.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kOpenClipConfig = "open_clip_config.json";
constexpr const char* kOpenClipTensors = "open_clip_model.safetensors";

/// Returns an object of that name; an empty one if there is none.
json config_object(const json& config, const char* name) {
  const auto found = config.find(name);
  return found != config.end() && found->is_object() ? *found : json::object();
}

/// Returns three numbers; `otherwise` if they are not stated.
std::vector<double> three_or(const json& stated, const char* name, const std::vector<double>& otherwise) {
  if (!stated.contains(name)) return otherwise;
  try {
    return stated.at(name).get<std::vector<double>>();
  } catch (const json::exception&) {
    fail("{}: '{}' is {}, expected three numbers", kOpenClipConfig, name, excerpt(json_text(stated.at(name))));
  }
}

/// Returns the preprocessing in `preprocess_cfg`, with defaults of OpenAI's CLIP.
Preprocessing open_clip_images(const json& config) {
  const json vision = config_object(config_object(config, "model_cfg"), "vision_cfg");
  const json stated = config_object(config, "preprocess_cfg");
  const std::string mode = huggingface::config_text(stated, "resize_mode", "shortest");
  if (mode != "shortest" && mode != "squash")
    fail("{}: resize_mode is '{}', expected shortest or squash", kOpenClipConfig, excerpt(mode));
  Preprocessing images;
  images.image_size = huggingface::config_integer(vision, "image_size", 224);
  images.squeeze = mode == "squash";
  images.mean = three_or(stated, "mean", {0.48145466, 0.4578275, 0.40821073});
  images.std = three_or(stated, "std", {0.26862954, 0.26130258, 0.27577711});
  images.resampling = parse_resampling(huggingface::config_text(stated, "interpolation", "bicubic"));
  return preprocessing_from(to_json(images), kOpenClipConfig);  // checks the ranges
}

}  // namespace

bool is_open_clip_folder(const fs::path& folder) {
  if (!fs::exists(folder / kOpenClipConfig)) return false;
  return !fs::exists(folder / "config.json") || fs::exists(folder / kOpenClipTensors);
}

HuggingFaceFiles read_open_clip_folder(const fs::path& folder) {
  const fs::path tensors = folder / kOpenClipTensors;
  if (!fs::exists(tensors))
    fail(
        "{} has no {}: make it of the pickle by safetensors.torch.save_file(torch.load('open_clip_pytorch_model.bin'), "
        "'{}')",
        folder.string(), kOpenClipTensors, kOpenClipTensors);
  return {tensors_of(read_safetensors(tensors).tensors), {{kOpenClipConfig, read_file(folder / kOpenClipConfig)}}};
}

bool is_open_clip_file(const std::map<std::string, std::string>& metadata) {
  return metadata.count(kOpenClipConfig) > 0;
}

std::unique_ptr<Backbone> open_clip_backbone(const fs::path& path, const HuggingFaceFiles& files,
                                             const Preprocessing& asked) {
  const json config = parse_json(files.texts.at(kOpenClipConfig), kOpenClipConfig);
  if (!config.is_object()) fail("{} is not an object", kOpenClipConfig);
  const Preprocessing images = choose_preprocessing(asked, open_clip_images(config), 0, path.string());
  huggingface::Translated made = huggingface::translated_open_clip(config_object(config, "model_cfg"), files.tensors);
  return std::make_unique<HuggingFaceBackbone>(path, std::move(made.config), std::move(made.tensors), images);
}

}  // namespace protocom
