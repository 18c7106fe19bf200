#include <fmt/ranges.h>
#include <torch/torch.h>

#include <algorithm>
#include <set>

#include "nn/architecture.h"
#include "nn/module_backbone.h"
#include "nn/torchscript_backbone.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/json.h"
#include "protocom/core/log.h"
#include "protocom/core/safetensors.h"

namespace protocom {
namespace {

constexpr const char* kKind = "backbone";
constexpr int kFormatVersion = 1;
constexpr const char* kHeaderMember = "header.json";

enum class Format { kTorchScript, kNpz, kSafetensors, kPickle };

bool starts_as_zip(const std::filesystem::path& path) {
  const MappedFile file(path);
  const std::string_view bytes = file.bytes();
  if (bytes.substr(0, 2) == "PK") return true;
  if (bytes.size() > 9 && bytes[8] == '{') return false;  // safetensors: eight bytes of length, then JSON
  fail("{} is neither a protocom backbone, nor TorchScript, nor a state dict (.npz or .safetensors)", path.string());
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Format format_of(const std::filesystem::path& path) {
  if (!starts_as_zip(path)) return Format::kSafetensors;
  const std::vector<std::string> names = NpzReader(path).names();
  const auto any = [&](std::string_view end) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return ends_with(name, end); });
  };
  if (any("/constants.pkl")) return Format::kTorchScript;
  return any("/data.pkl") ? Format::kPickle : Format::kNpz;
}

// A training checkpoint is a backbone with more members beside it.
bool is_weight(const std::string& member) { return member != kHeaderMember && member.rfind(kTrainingPrefix, 0) != 0; }

StateDict read_npz_state(const NpzReader& reader) {
  StateDict state;
  for (const std::string& name : reader.names()) {
    if (is_weight(name)) state[name] = reader.tensor(name);
  }
  return state;
}

// Checkpoints hold the encoder under the name it had in the training script: `net.`, `module.`, `encoder.`.
std::string common_prefix(const StateDict& state, const std::string& first_name) {
  if (state.count(first_name) > 0) return "";
  std::string shortest;
  for (const auto& [name, tensor] : state) {
    if (!ends_with(name, "." + first_name)) continue;
    const std::string prefix = name.substr(0, name.size() - first_name.size());
    if (shortest.empty() || prefix.size() < shortest.size()) shortest = prefix;
  }
  return shortest;
}

bool is_counter(const std::string& name) { return name.find("num_batches_tracked") != std::string::npos; }

void copy_entry(const std::filesystem::path& path, const std::string& name, const at::Tensor& source,
                const at::Tensor& target) {
  if (source.sizes() != target.sizes()) {
    fail("{}: entry '{}' has shape [{}], expected [{}]", path.string(), name, fmt::join(source.sizes(), ", "),
         fmt::join(target.sizes(), ", "));
  }
  if (source.is_floating_point() && !at::isfinite(source).all().item<bool>()) {
    fail("{}: entry '{}' holds NaN or infinite values", path.string(), name);
  }
  target.copy_(source);
}

void warn_of_leftovers(const std::filesystem::path& path, const StateDict& state, const std::set<std::string>& used) {
  std::vector<std::string> left;
  for (const auto& [name, tensor] : state) {
    if (used.count(name) == 0 && !is_counter(name)) left.push_back(name);
  }
  if (left.empty()) return;
  const size_t count = left.size();
  left.resize(std::min<size_t>(count, 10));
  logger().warn("{}: {} entries are not part of the backbone and are ignored: {}{}", path.string(), count,
                fmt::join(left, ", "), count > left.size() ? ", ..." : "");
}

std::set<std::string> fill(const std::filesystem::path& path, const StateDict& state, const Backbone& backbone) {
  torch::NoGradGuard no_grad;
  const auto entries = backbone.state_dict();
  const std::string prefix = common_prefix(state, entries.front().first);
  std::set<std::string> used;
  for (const auto& [name, target] : entries) {
    const auto found = state.find(prefix + name);
    if (found == state.end()) {
      if (is_counter(name)) continue;
      fail("{} has no entry '{}'; expected the state dict of the chosen architecture", path.string(), prefix + name);
    }
    copy_entry(path, found->first, found->second, target);
    used.insert(found->first);
  }
  return used;
}

std::vector<double> three_values(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kDouble).reshape({-1}).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

std::unique_ptr<Backbone> from_state_dict(const std::filesystem::path& path, const StateDict& state,
                                          BackboneOptions options) {
  std::set<std::string> normalisation;
  for (auto [name, target] : {std::pair{"mean", &options.mean}, std::pair{"std", &options.std}}) {
    const auto found = state.find(name);
    if (found == state.end() || found->second.numel() != 3) continue;
    *target = three_values(found->second);
    normalisation.insert(name);
  }
  check_fits(options.architecture, state);
  auto backbone = std::make_unique<ModuleBackbone>(options);
  std::set<std::string> used = fill(path, state, *backbone);
  used.merge(normalisation);
  warn_of_leftovers(path, state, used);
  return backbone;
}

/// A state dict without our header: networks that others publish are known by their names.
std::unique_ptr<Backbone> from_bare_state(const std::filesystem::path& path, const StateDict& state,
                                          BackboneOptions options) {
  if (const auto published = published_architecture(state)) options.architecture = *published;
  return from_state_dict(path, state, std::move(options));
}

BackboneOptions options_of(const ArtefactHeader& header, const std::string& where) {
  BackboneOptions options;
  try {
    header.details.at("architecture").get_to(options.architecture);
    options.image_size = whole_number<int64_t>(header.details.at("image_size"));
    header.details.at("mean").get_to(options.mean);
    header.details.at("std").get_to(options.std);
    options.resize = whole_number_or<int64_t>(header.details, "resize", 0);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header is damaged: {}", where, reason_of(error));
  }
  return options;
}

std::unique_ptr<Backbone> read_npz_backbone(const std::filesystem::path& path, const BackboneOptions& options) {
  const NpzReader reader(path);
  const auto names = reader.names();
  const bool has_weights =
      std::any_of(names.begin(), names.end(), [](const auto& name) { return ends_with(name, ".weight"); });
  if (!reader.has(kHeaderMember) && !has_weights) {
    fail("{} is not a backbone: expected a state dict with entries such as 'layer1.conv1.weight', found {}",
         path.string(), excerpt(fmt::format("{}", fmt::join(names, ", ")), 300));
  }
  if (!reader.has(kHeaderMember)) return from_bare_state(path, read_npz_state(reader), options);
  const ArtefactHeader header = read_header(reader, kKind, kFormatVersion);
  return from_state_dict(path, read_npz_state(reader), options_of(header, path.string()));
}

}  // namespace

namespace {

/// Whether it has no header that would say sizes and normalisation.
bool is_bare(const std::filesystem::path& path) {
  return format_of(path) == Format::kSafetensors || !NpzReader(path).has(kHeaderMember);
}

std::unique_ptr<Backbone> read(const std::filesystem::path& path, const BackboneOptions& options) {
  switch (format_of(path)) {
    case Format::kTorchScript:
      return std::make_unique<TorchScriptBackbone>(path, Preprocessing(), options.image_size);
    case Format::kSafetensors:
      return from_bare_state(path, read_safetensors(path).tensors, options);
    case Format::kPickle:
      fail("{} is a Python pickle; write its state dict as .npz (numpy.savez) or .safetensors instead", path.string());
    case Format::kNpz:
      break;
  }
  return read_npz_backbone(path, options);
}

}  // namespace

std::unique_ptr<Backbone> read_backbone(const std::filesystem::path& path, const BackboneOptions& options) {
  return reading(path, [&] { return read(path, options); });
}

std::unique_ptr<Backbone> open_backbone(const std::filesystem::path& path, const ForeignBackbone& said) {
  return reading(path, [&]() -> std::unique_ptr<Backbone> {
    if (format_of(path) == Format::kTorchScript)
      return std::make_unique<TorchScriptBackbone>(path, said.preprocessing.value_or(Preprocessing()), said.known_size);
    BackboneOptions options;
    options.architecture = said.architecture;
    if (said.preprocessing)
      options.set(*said.preprocessing);
    else
      options.image_size = said.known_size;
    if (options.image_size < 1 && is_bare(path)) {
      fail_usage(
          "{} is a bare state dict and does not say what images it takes: give --preprocess, such as imagenet (256, "
          "224, "
          "normalised) or plain:size=84",
          path.string());
    }
    return read(path, options);
  });
}

ArtefactHeader backbone_header(const Backbone& backbone, const BackboneOptions& options, const Provenance& provenance) {
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = {{"architecture", options.architecture},
                    {"image_size", options.image_size},
                    {"dim", backbone.dim()},
                    {"mean", options.mean},
                    {"std", options.std}};
  if (options.resize > 0) header.details["resize"] = options.resize;
  return header;
}

void write_backbone(const std::filesystem::path& path, const Backbone& backbone, const BackboneOptions& options,
                    const Provenance& provenance) {
  NpzWriter writer(path);
  add_header(writer, backbone_header(backbone, options, provenance));
  for (const auto& [name, tensor] : backbone.state_dict()) writer.add(name, tensor);
  writer.close();
}

}  // namespace protocom
