#include "networks/detail/huggingface_backbone.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "base/json_text.h"
#include "encoders/chosen_preprocessing.h"
#include "encoders/encoder.h"
#include "encoders/huggingface_images.h"
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
constexpr const char* kTensors = "model.safetensors";
constexpr const char* kShards = "model.safetensors.index.json";

/// Returns the files that an index of parts names, each once.
std::set<std::string> parts_of(const fs::path& index) {
  const auto stated = parse_json(read_file(index), index.string());
  const auto map = stated.is_object() ? stated.find("weight_map") : stated.end();
  if (map == stated.end() || !map->is_object() || map->empty())
    fail("{}: missing weight_map, expected the names of tensors and of their files", index.string());
  std::set<std::string> parts;
  for (const auto& [name, file] : map->items()) {
    const std::string part = file.is_string() ? file.get<std::string>() : "";
    if (part.empty() || fs::path(part).filename() != part)
      fail("{}: '{}' has the file {}, expected the name of a file beside it", index.string(), excerpt(name),
           excerpt(json_text(file)));
    parts.insert(part);
  }
  return parts;
}

std::map<std::string, at::Tensor> tensors_of_parts(const fs::path& index) {
  std::map<std::string, at::Tensor> tensors;
  for (const std::string& part : parts_of(index))
    tensors.merge(tensors_of(read_safetensors(index.parent_path() / part).tensors));
  return tensors;
}

/// Returns the folder's stated preprocessing, unless the user states one.
Preprocessing images_of(const std::string& where, const HuggingFaceFiles& files, const Preprocessing& asked) {
  const auto images = files.texts.find(huggingface::kImages);
  const Preprocessing stated =
      images == files.texts.end()
          ? Preprocessing()
          : huggingface::preprocessing_of(parse_json(images->second, where + ", " + huggingface::kImages));
  if (stated.image_size == 0 && asked.image_size == 0)
    throw UnstatedPreprocessing(fmt::format(
        "{} has no {} that states its preprocessing: give --preprocess, such as imagenet, clip or half:squeeze", where,
        huggingface::kImages));
  return choose_preprocessing(asked, stated, 0, where);
}

}  // namespace

std::map<std::string, at::Tensor> tensors_of_folder(const fs::path& folder) {
  if (fs::exists(folder / kTensors)) return tensors_of(read_safetensors(folder / kTensors).tensors);
  if (fs::exists(folder / kShards)) return tensors_of_parts(folder / kShards);
  fail(
      "{} has no {}: its weights are read from that file, from the parts that {} names, or as onnx/model.onnx (a "
      "pickle "
      "becomes the first by model.save_pretrained(folder))",
      folder.string(), kTensors, kShards);
}

HuggingFaceFiles read_huggingface_folder(const fs::path& folder) {
  HuggingFaceFiles files;
  files.tensors = tensors_of_folder(folder);
  if (!fs::exists(folder / kConfig)) fail("{} has no {}", folder.string(), kConfig);
  files.texts[kConfig] = read_file(folder / kConfig);
  if (const auto images = huggingface::images_text(folder)) files.texts[huggingface::kImages] = *images;
  return files;
}

bool is_huggingface_file(const std::map<std::string, std::string>& metadata) { return metadata.count(kConfig) > 0; }

HuggingFaceBackbone::HuggingFaceBackbone(const fs::path& path, const HuggingFaceFiles& files,
                                         const Preprocessing& asked)
    : HuggingFaceBackbone(path, parse_json(files.texts.at(kConfig), path.string() + ", " + kConfig), files.tensors,
                          images_of(path.string(), files, asked)) {}

HuggingFaceBackbone::HuggingFaceBackbone(const fs::path& path, nlohmann::json config, huggingface::Tensors tensors,
                                         const Preprocessing& images)
    : FixedBackbone(path), config_(std::move(config)), tensors_(std::move(tensors)) {
  const at::NoGradGuard no_grad;
  set_preprocessing(images);
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
