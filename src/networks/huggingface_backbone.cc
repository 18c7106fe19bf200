#include "networks/detail/huggingface_backbone.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "base/error.h"
#include "encoders/chosen_preprocessing.h"
#include "io/files.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "networks/detail/image_tensors.h"
#include "networks/detail/module_backbone.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kImages = "preprocessor_config.json";
constexpr const char* kTensors = "model.safetensors";

/// A side: 224, {"shortest_edge": 224} or {"height": 224, "width": 224}; 0: not said.
int64_t side_of(const nlohmann::json& stated, const char* name) {
  const auto found = stated.find(name);
  if (found == stated.end() || found->is_null()) return 0;
  const auto whole = [&](const nlohmann::json& value) {
    if (!value.is_number_integer()) fail("{}: '{}' is {}", kImages, name, excerpt(found->dump()));
    return value.get<int64_t>();
  };
  if (!found->is_object()) return whole(*found);
  if (found->contains("shortest_edge")) return whole(found->at("shortest_edge"));
  if (!found->contains("height") || !found->contains("width") || found->at("height") != found->at("width"))
    fail("{}: '{}' is {}, expected a square", kImages, name, excerpt(found->dump()));
  return whole(found->at("height"));
}

std::vector<double> three(const nlohmann::json& stated, const char* name) {
  const auto found = stated.find(name);
  if (found == stated.end() || !found->is_array() || found->size() != 3)
    fail("{}: '{}' is not there, expected three numbers", kImages, name);
  std::vector<double> values;
  for (const auto& item : *found) values.push_back(item.is_number() ? item.get<double>() : std::nan(""));
  return values;
}

/// Without a crop ConvNeXt's smaller images are resized to more than what is then cut out.
int64_t before_crop(const nlohmann::json& stated, int64_t side) {
  constexpr int64_t kLarge = 384;  // from here on the whole image is taken
  if (!stated.contains("crop_pct") || stated.at("crop_pct").is_null() || side >= kLarge) return 0;
  const double share = huggingface::number_of(stated, "crop_pct", 1);
  if (!(share > 0.1 && share <= 1)) fail("{}: crop_pct is {}", kImages, share);
  return static_cast<int64_t>(static_cast<double>(side) / share);
}

}  // namespace

HuggingFaceFiles read_huggingface_folder(const fs::path& folder) {
  HuggingFaceFiles files;
  for (const char* name : {kConfig, kImages, kTensors}) {
    if (fs::exists(folder / name)) continue;
    fail(
        "{} has no {}: a folder that is an encoder has {}, {} and {} (of several parts or a pickle make one by "
        "model.save_pretrained(folder, max_shard_size='20GB'))",
        folder.string(), name, kConfig, kImages, kTensors);
  }
  files.tensors = tensors_of(read_safetensors(folder / kTensors).tensors);
  for (const char* name : {kConfig, kImages}) files.texts[name] = read_file(folder / name);
  return files;
}

bool is_huggingface_file(const std::map<std::string, std::string>& metadata) {
  return metadata.count(kConfig) > 0 && metadata.count(kImages) > 0;
}

Preprocessing huggingface_preprocessing(const nlohmann::json& stated) {
  if (!stated.is_object()) fail("{} is not an object", kImages);
  using huggingface::truth_of;
  Preprocessing images;
  const int64_t size = side_of(stated, "size");
  const int64_t crop = truth_of(stated, "do_center_crop", false) ? side_of(stated, "crop_size") : 0;
  images.image_size = crop > 0 ? crop : size;
  images.resize = crop > 0 ? size : before_crop(stated, size);
  if (images.resize == images.image_size) images.resize = 0;
  if (images.resize != 0 && images.resize < images.image_size)
    fail("{}: images of {} pixels are cut out of {}", kImages, images.image_size, images.resize);
  if (stated.contains("resample") && stated.at("resample").is_number_integer())
    images.resampling = resampling_of_pillow(stated.at("resample").get<int64_t>());
  const double factor = huggingface::number_of(stated, "rescale_factor", 1.0 / 255);
  if (!truth_of(stated, "do_rescale", true) || std::abs(factor * 255 - 1) > 1e-3)
    fail("{}: pixels are not brought to 0 to 1 (rescale_factor {}), which is not done here", kImages, factor);
  if (truth_of(stated, "do_normalize", true)) {
    images.mean = three(stated, "image_mean");
    images.std = three(stated, "image_std");
  }
  return preprocessing_from(to_json(images), kImages);  // checks the ranges
}

HuggingFaceBackbone::HuggingFaceBackbone(const fs::path& path, const HuggingFaceFiles& files,
                                         const Preprocessing& asked)
    : FixedBackbone(path), tensors_(files.tensors) {
  const at::NoGradGuard no_grad;
  const std::string where = path.string();
  config_ = parse_json(files.texts.at(kConfig), where + ", " + kConfig);
  const Preprocessing stated = huggingface_preprocessing(parse_json(files.texts.at(kImages), where + ", " + kImages));
  set_preprocessing(choose_preprocessing(asked, stated, 0, where));
  network_ = huggingface::make_network(config_, tensors_);
  reading(path, [&] { try_out(); });
}

at::Tensor HuggingFaceBackbone::channels_last(const at::Tensor& images) const {
  return normalised(images).contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor HuggingFaceBackbone::forward(const at::Tensor& images) {
  const at::NoGradGuard no_grad;
  return reading(path(), [&] { return network_->features(channels_last(images)).to(at::kFloat); });
}

at::Tensor HuggingFaceBackbone::forward_maps(const at::Tensor& images) {
  const at::NoGradGuard no_grad;
  return reading(path(), [&] { return network_->maps(channels_last(images)).to(at::kFloat).contiguous(); });
}

void HuggingFaceBackbone::to(c10::Device device) {
  const at::NoGradGuard no_grad;
  FixedBackbone::to(device);
  if (device == device_) return;
  device_ = device;
  std::map<std::string, at::Tensor> moved;
  for (const auto& [name, tensor] : tensors_) moved[name] = tensor.to(device);
  network_ = huggingface::make_network(config_, moved);
}

std::vector<std::pair<std::string, at::Tensor>> HuggingFaceBackbone::state_dict() const {
  return {tensors_.begin(), tensors_.end()};
}

}  // namespace protocom
