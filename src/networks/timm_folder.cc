#include "networks/detail/timm_folder.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kTimmConfig = "config.json";
constexpr const char* kPretrained = "pretrained_cfg";

/// Returns the part about images; old versions have it at the top level.
const json& pretrained_of(const json& config) { return config.contains(kPretrained) ? config[kPretrained] : config; }

/// Returns the side in input_size [3, side, side].
int64_t timm_side(const json& stated) {
  const auto found = stated.find("input_size");
  const bool square = found != stated.end() && found->is_array() && found->size() == 3 && (*found)[1] == (*found)[2];
  if (!square || !(*found)[1].is_number_integer())
    fail("{}: input_size is {}, expected [3, side, side]", kTimmConfig,
         found == stated.end() ? "missing" : excerpt(json_text(*found)));
  return (*found)[1].get<int64_t>();
}

std::vector<double> timm_three(const json& stated, const char* name) {
  try {
    return stated.at(name).get<std::vector<double>>();
  } catch (const json::exception&) {
    fail("{}: missing '{}', expected three numbers", kTimmConfig, name);
  }
}

}  // namespace

bool is_timm_config(const std::string& text) {
  const json config = json_from_text(text);
  return config.is_object() && config.contains("architecture") && pretrained_of(config).is_object() &&
         pretrained_of(config).contains("input_size");
}

HuggingFaceFiles read_timm_folder(const fs::path& folder) {
  return {tensors_of_folder(folder), {{kTimmConfig, read_file(folder / kTimmConfig)}}};
}

bool is_timm_file(const std::map<std::string, std::string>& metadata) {
  const auto config = metadata.find(kTimmConfig);
  return config != metadata.end() && is_timm_config(config->second);
}

Preprocessing timm_preprocessing(const HuggingFaceFiles& files) {
  const json config = timm_config_of(files);
  const json& stated = pretrained_of(config);
  const std::string mode = stated.value("crop_mode", "center");
  if (mode != "center" && mode != "squash")
    fail("{}: crop_mode is '{}', expected center or squash", kTimmConfig, excerpt(mode));
  Preprocessing images;
  images.squeeze = mode == "squash";
  images.image_size = timm_side(stated);
  const double share = huggingface::config_number(stated, "crop_pct", 0.875);
  if (!(share > 0.1 && share <= 1))
    fail("{}: crop_pct: expected more than 0.1 and at most 1, found {}", kTimmConfig, share);
  images.resize = static_cast<int64_t>(std::floor(static_cast<double>(images.image_size) / share));
  images.mean = timm_three(stated, "mean");
  images.std = timm_three(stated, "std");
  images.resampling = parse_resampling(stated.value("interpolation", "bilinear"));
  return preprocessing_from(to_json(images), kTimmConfig);  // checks the ranges
}

json timm_config_of(const HuggingFaceFiles& files) { return parse_json(files.texts.at(kTimmConfig), kTimmConfig); }

}  // namespace protocom
