#include <fmt/ranges.h>
#include <torch/torch.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "encoders/chosen_preprocessing.h"
#include "io/file_kinds.h"
#include "io/files.h"
#include "io/json.h"
#include "io/memory_file.h"
#include "io/safetensors.h"
#include "networks/detail/architecture.h"
#include "networks/detail/huggingface_backbone.h"
#include "networks/detail/image_tensors.h"
#include "networks/detail/module_backbone.h"
#include "networks/detail/onnx_backbone.h"
#include "networks/detail/open_clip_folder.h"
#include "networks/detail/timm_folder.h"
#include "networks/detail/torchscript_backbone.h"
#include "networks/huggingface/detail/translated.h"
#include "networks/onnx/detail/model.h"
#include "networks/tflite/detail/model.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

constexpr const char* kKind = "backbone";
constexpr int kFormatVersion = 1;
constexpr const char* kHeaderMember = "header.json";

enum class Format { kTorchScript, kNpz, kSafetensors, kPickle, kOnnx, kTflite, kHuggingFace, kTimm, kOpenClip };

/// Returns the name of an unsupported network format, by the first bytes, else by the suffix; empty for others.
std::string_view kind_of_others(std::string_view bytes, const std::filesystem::path& path) {
  if (bytes.substr(0, 8) == "\x89HDF\r\n\x1a\n") return "a Keras model (HDF5)";
  if (bytes.substr(0, 1) == "\x80") return "a Python pickle, as old versions of torch.save write";
  if (path.extension() == ".pb") return "a TensorFlow model";
  return "";
}

[[noreturn]] void refuse_kind(std::string_view kind, const std::filesystem::path& path) {
  fail("{} is {}, which is not supported: save the network as ONNX, or its weights as .safetensors (docs/encoders.md)",
       path.string(), kind);
}

Format format_of_zip(const std::filesystem::path& path) {
  const std::vector<std::string> names = NpzReader(path).names();
  const auto any = [&](std::string_view end) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return ends_with(name, end); });
  };
  if (any("/constants.pkl")) return Format::kTorchScript;
  if (any("model.weights.h5")) refuse_kind("a Keras model", path);
  return any("/data.pkl") ? Format::kPickle : Format::kNpz;
}

Format format_of_folder(const std::filesystem::path& folder) {
  if (is_open_clip_folder(folder)) return Format::kOpenClip;
  const bool timm =
      std::filesystem::exists(folder / "config.json") && is_timm_config(read_file(folder / "config.json"));
  return timm ? Format::kTimm : Format::kHuggingFace;
}

Format format_of_safetensors(const std::map<std::string, std::string>& metadata) {
  if (is_timm_file(metadata)) return Format::kTimm;
  if (is_open_clip_file(metadata)) return Format::kOpenClip;
  return is_huggingface_file(metadata) ? Format::kHuggingFace : Format::kSafetensors;
}

Format format_of(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return format_of_folder(path);
  const MappedFile file(path);
  const std::string_view bytes = file.bytes();
  if (begins_as_safetensors(bytes)) return format_of_safetensors(read_safetensors_metadata(path));
  if (begins_as_zip(bytes)) return format_of_zip(path);
  if (tflite::looks_like_tflite(bytes)) return Format::kTflite;
  if (const auto kind = kind_of_others(bytes, path); !kind.empty()) refuse_kind(kind, path);
  if (onnx::looks_like_onnx(bytes)) return Format::kOnnx;
  fail(
      "{} is neither a protocom backbone, nor ONNX, TensorFlow Lite, TorchScript, nor a state dict (.npz or "
      ".safetensors)",
      path.string());
}

// A training checkpoint is a backbone with further members.
bool is_weight(const std::string& member) { return member != kHeaderMember && member.rfind(kTrainingPrefix, 0) != 0; }

StateDict read_npz_state(const NpzReader& reader) {
  StateDict state;
  for (const std::string& name : reader.names()) {
    if (is_weight(name)) state[name] = tensor_of(reader.array(name));
  }
  return state;
}

// Checkpoints contain the encoder under its name in the training script: `net.`, `module.`, `encoder.`.
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
    fail("{}: entry '{}' is not finite", path.string(), name);
  }
  target.copy_(source);
}

void warn_of_leftovers(const std::filesystem::path& path, const StateDict& state, const std::set<std::string>& used) {
  std::vector<std::string> left;
  for (const auto& [name, tensor] : state) {
    if (used.count(name) == 0 && !is_counter(name)) left.push_back(name);
  }
  constexpr size_t kShown = 10;
  if (left.empty()) return;
  logger().warn("{}: {} entries are not part of the backbone and are ignored: {}", shown(path), left.size(),
                first_of(left, kShown));
}

std::set<std::string> fill(const std::filesystem::path& path, const StateDict& state, const Backbone& backbone) {
  torch::NoGradGuard no_grad;
  const std::string architecture = backbone.options()->architecture;
  const auto entries = backbone.state_dict();
  const std::string prefix = common_prefix(state, entries.front().first);
  std::set<std::string> used;
  for (const auto& [name, target] : entries) {
    const auto found = state.find(prefix + name);
    if (found == state.end()) {
      if (is_counter(name)) continue;
      fail("{} has no entry '{}'; expected the state dict of {}: export a network of another kind to ONNX",
           path.string(), prefix + name, architecture);
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

/// Takes a state dict's own normalisation; returns the names of its entries.
std::set<std::string> take_normalisation(const StateDict& state, NetworkOptions& options) {
  std::set<std::string> taken;
  for (auto [name, target] : {std::pair{"mean", &options.mean}, std::pair{"std", &options.std}}) {
    const auto found = state.find(name);
    if (found == state.end() || found->second.numel() != 3) continue;
    *target = three_values(found->second);
    taken.insert(name);
  }
  return taken;
}

std::unique_ptr<Backbone> from_state_dict(const std::filesystem::path& path, const StateDict& state,
                                          NetworkOptions options) {
  std::set<std::string> normalisation = take_normalisation(state, options);
  check_fits(options.architecture, state);
  auto backbone = std::make_unique<ModuleBackbone>(options);
  std::set<std::string> used = fill(path, state, *backbone);
  used.merge(normalisation);
  warn_of_leftovers(path, state, used);
  return backbone;
}

/// Reads a state dict without our header: published networks are recognised by their names.
std::unique_ptr<Backbone> from_bare_state(const std::filesystem::path& path, const StateDict& state,
                                          NetworkOptions options) {
  if (const auto published = published_architecture(state)) options.architecture = *published;
  return from_state_dict(path, state, std::move(options));
}

NetworkOptions options_of(const ArtefactHeader& header, const std::string& where) {
  NetworkOptions options;
  try {
    header.details.at("architecture").get_to(options.architecture);
    options.image_size = whole_number<int64_t>(header.details.at("image_size"));
    header.details.at("mean").get_to(options.mean);
    header.details.at("std").get_to(options.std);
    options.resize = whole_number_or<int64_t>(header.details, "resize", 0);
    options.squeeze = header.details.value("squeeze", false);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header is damaged: {}", where, reason_of(error));
  }
  return options;
}

/// Whether a file is a protocom backbone, whose header states sizes and normalisation, as opposed to a bare state dict.
bool has_header(const std::filesystem::path& path) {
  return format_of(path) == Format::kNpz && NpzReader(path).has(kHeaderMember);
}

std::unique_ptr<Backbone> read_own(const std::filesystem::path& path) {
  const NpzReader reader(path);
  const ArtefactHeader header = read_header(reader, kKind, kFormatVersion);
  return from_state_dict(path, read_npz_state(reader), options_of(header, path.string()));
}

/// Returns the files of a folder, or of a file that was made from one.
HuggingFaceFiles files_of(const std::filesystem::path& path, Format format) {
  if (std::filesystem::is_directory(path)) {
    if (format == Format::kOpenClip) return read_open_clip_folder(path);
    return format == Format::kTimm ? read_timm_folder(path) : read_huggingface_folder(path);
  }
  Safetensors read = read_safetensors(path);
  return {tensors_of(read.tensors), std::move(read.metadata)};
}

StateDict read_bare_npz(const std::filesystem::path& path) {
  const NpzReader reader(path);
  const auto names = reader.names();
  if (std::none_of(names.begin(), names.end(), [](const auto& name) { return ends_with(name, ".weight"); })) {
    fail("{} is not a backbone: expected a state dict with entries such as 'layer1.conv1.weight', found {}",
         path.string(), excerpt(fmt::format("{}", fmt::join(names, ", ")), 300));
  }
  return read_npz_state(reader);
}

StateDict read_bare_state(const std::filesystem::path& path) {
  const Format format = format_of(path);
  if (format == Format::kPickle)
    fail("{} is a Python pickle; write its state dict as .npz (numpy.savez) or .safetensors instead", path.string());
  return format == Format::kSafetensors ? tensors_of(read_safetensors(path).tensors) : read_bare_npz(path);
}

/// Returns the user's options for a state dict, if they suffice.
NetworkOptions options_for(const std::filesystem::path& path, const StateDict& state, const EncoderFileOptions& asked) {
  NetworkOptions options;
  options.architecture = asked.architecture;
  if (asked.preprocessing) {
    options.set(*asked.preprocessing);
    return options;
  }
  options.image_size = asked.known_size;
  const bool normalised = take_normalisation(state, options).size() == 2;
  const bool is_published = published_architecture(state).has_value();
  if (asked.known_size < 1 || (!normalised && is_published)) {
    const std::string sentence = fmt::format(
        "{} is a bare state dict and does not state its preprocessing: give --preprocess, such as imagenet (256, 224, "
        "normalised), imagenet:size=64 or plain:size=84 (RGB in [0, 1])",
        path.string());
    // Networks of our own are trained at any size, which a trial of a few presets would not find.
    if (!is_published) fail("{}", sentence);
    throw UnstatedPreprocessing(sentence);
  }
  return options;
}

bool is_graph(Format format) { return format == Format::kOnnx || format == Format::kTflite; }

std::unique_ptr<Backbone> read_graph(const std::filesystem::path& path, Format format, const Preprocessing& asked,
                                     const std::string& output) {
  onnx::Model model = format == Format::kOnnx ? onnx::read_model(path) : tflite::read_model(path);
  return std::make_unique<OnnxBackbone>(path, std::move(model), asked, output);
}

/// Reads the weights of a timm folder, with its stated preprocessing unless the user states one: under the names of
/// `transformers` if a family there computes the same.
std::unique_ptr<Backbone> read_timm(const std::filesystem::path& path, const Preprocessing& asked) {
  const HuggingFaceFiles files = files_of(path, Format::kTimm);
  const nlohmann::json config = timm_config_of(files);
  const Preprocessing images = choose_preprocessing(asked, timm_preprocessing(files), 0, path.string());
  if (auto made = huggingface::translated_timm(config, files.tensors))
    return std::make_unique<HuggingFaceBackbone>(path, std::move(made->config), std::move(made->tensors), images);
  const auto architecture = published_architecture(files.tensors);
  if (!architecture)
    fail("the weights of timm's '{}' are not supported: export it to ONNX (docs/encoders.md)",
         excerpt(huggingface::config_text(config, "architecture", "?")));
  NetworkOptions options;
  options.architecture = *architecture;
  options.set(images);
  return from_state_dict(path, files.tensors, std::move(options));
}

bool is_of_folder(Format format) {
  return format == Format::kHuggingFace || format == Format::kTimm || format == Format::kOpenClip;
}

/// Reads a published folder, or a file that was made from one.
std::unique_ptr<Backbone> read_published(const std::filesystem::path& path, Format format, const Preprocessing& asked) {
  if (format == Format::kTimm) return read_timm(path, asked);
  const HuggingFaceFiles files = files_of(path, format);
  if (format == Format::kOpenClip) return open_clip_backbone(path, files, asked);
  return std::make_unique<HuggingFaceBackbone>(path, files, asked);
}

/// Logs the preprocessing that is assumed if none was given, and a warning if the given one is ignored.
void report(const std::filesystem::path& path, const EncoderFileOptions& asked, const Backbone& backbone) {
  const Preprocessing taken = backbone.preprocessing();
  if (asked.preprocessing && !(*asked.preprocessing == taken)) {
    logger().warn("{} states '{}', which is used; '{}' is ignored", shown(path), describe(taken),
                  describe(*asked.preprocessing));
  }
  if (!asked.preprocessing && !has_header(path)) {
    logger().info("{} does not state its preprocessing: assuming '{}' (--preprocess overrides it)", shown(path),
                  describe(taken));
  }
}

}  // namespace

std::unique_ptr<Backbone> read_backbone(const std::filesystem::path& given, const NetworkOptions& options) {
  const std::filesystem::path path = encoder_at(given);
  return reading(path, [&]() -> std::unique_ptr<Backbone> {
    const Format format = format_of(path);
    if (format == Format::kTorchScript)
      return std::make_unique<TorchScriptBackbone>(path, Preprocessing(), options.image_size, "");
    if (is_of_folder(format)) return read_published(path, format, {});
    if (is_graph(format)) return read_graph(path, format, options, "");
    return has_header(path) ? read_own(path) : from_bare_state(path, read_bare_state(path), options);
  });
}

std::unique_ptr<Backbone> open_backbone(const std::filesystem::path& given, const EncoderFileOptions& asked) {
  const std::filesystem::path path = encoder_at(given);
  return reading(path, [&]() -> std::unique_ptr<Backbone> {
    const Format format = format_of(path);
    const Preprocessing preprocessing = asked.preprocessing.value_or(Preprocessing());
    if (is_graph(format)) return read_graph(path, format, preprocessing, asked.output);
    if (is_of_folder(format) && asked.output.empty()) return read_published(path, format, preprocessing);
    if (format == Format::kTorchScript)
      return std::make_unique<TorchScriptBackbone>(path, preprocessing, asked.known_size, asked.output);
    if (!asked.output.empty()) fail_usage("--output needs an ONNX or TorchScript file, found {}", path.string());
    std::unique_ptr<Backbone> backbone;
    if (has_header(path)) {
      backbone = read_own(path);
    } else {
      const StateDict state = read_bare_state(path);
      backbone = from_bare_state(path, state, options_for(path, state, asked));
    }
    report(path, asked, *backbone);
    return backbone;
  });
}

std::filesystem::path backbone_as_one_file(const std::filesystem::path& given, const EncoderFileOptions& asked,
                                           const std::filesystem::path& folder) {
  const std::filesystem::path path = encoder_at(given);
  return reading(path, [&] {
    if (std::filesystem::is_directory(path)) {
      const HuggingFaceFiles files = files_of(path, format_of(path));
      const std::filesystem::path written = folder / "backbone.safetensors";
      write_safetensors(written, arrays_of({files.tensors.begin(), files.tensors.end()}), files.texts);
      return written;
    }
    const Format format = format_of(path);
    if (format == Format::kTorchScript && !asked.output.empty()) {
      const std::filesystem::path written = folder / "backbone.pt";
      write_torchscript(path, asked.output, written);
      return written;
    }
    return path;
  });
}

ArtefactHeader backbone_header(const Backbone& backbone, const NetworkOptions& options, const Provenance& provenance) {
  ArtefactHeader header = make_header(kKind, kFormatVersion, provenance);
  header.details = {{"architecture", options.architecture},
                    {"image_size", options.image_size},
                    {"dim", backbone.dim()},
                    {"mean", options.mean},
                    {"std", options.std}};
  if (options.resize > 0) header.details["resize"] = options.resize;
  if (options.squeeze) header.details["squeeze"] = true;
  return header;
}

void write_backbone(const std::filesystem::path& path, const Backbone& backbone, const NetworkOptions& options,
                    const Provenance& provenance) {
  NpzWriter writer(path);
  add_header(writer, backbone_header(backbone, options, provenance));
  for (const auto& [name, tensor] : backbone.state_dict()) writer.add(name, array_of(tensor));
  writer.close();
}

}  // namespace protocom
