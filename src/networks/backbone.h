#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoders/encoder.h"
#include "images/preprocessing.h"
#include "io/artefact.h"

namespace protocom {

/// What a forward pass is for.
enum class BackboneMode {
  kUse,   ///< no gradients; batch norm by its running statistics
  kTune,  ///< gradients; batch norm by its running statistics, which stay as they are
  kTrain  ///< gradients; batch norm by the batch's statistics, which the running ones follow
};

/// An image encoder f: images to features. Normalisation is inside, so every backbone takes plain RGB in [0, 1].
/// Not thread-safe; forward runs on several cores by itself.
class Backbone {
 public:
  virtual ~Backbone() = default;

  /// float32 [n, 3, h, w], RGB in [0, 1] -> float32 [n, dim()].
  virtual at::Tensor forward(const at::Tensor& images) = 0;
  /// The last feature maps, float32 [n, c, h', w'] with channels first in memory: forward is their mean over places for
  /// residual networks (c = d) and their flattening for Conv4 (c h' w' = d); those of a vision transformer are its
  /// patches' tokens (c = d), beside the class token that forward gives. Images and gradients as in forward. Throws
  /// Error when the backbone has none: a TorchScript file has those of its method `forward_maps`.
  virtual at::Tensor forward_maps(const at::Tensor& images);
  /// d, the length of a feature.
  [[nodiscard]] virtual int64_t dim() const = 0;
  /// The side of the square images it expects.
  [[nodiscard]] virtual int64_t image_size() const = 0;
  /// What files are brought to before they are images for it, and what it does itself (mean, std).
  [[nodiscard]] virtual Preprocessing preprocessing() const;
  /// kUse is the initial state.
  virtual void set_mode(BackboneMode mode) = 0;
  virtual void to(c10::Device device) = 0;
  /// Promises that it stays in kUse, on the processor and in float32, with the weights that it has: what forward passes
  /// need may be prepared once for the threads that LibTorch has now (batch norm folded into convolutions, weights in
  /// the order that these read). Features differ by rounding; state_dict and parameters may be empty afterwards. Does
  /// nothing if nothing is gained.
  virtual void freeze() {}
  /// The most images that a forward pass on the processor is fast with; larger batches are better given in parts.
  [[nodiscard]] virtual int64_t most_images_a_pass() const { return std::numeric_limits<int64_t>::max(); }
  /// State-dict names (`layer1.conv1.weight`) and tensors, parameters and buffers; aliases, not copies.
  [[nodiscard]] virtual std::vector<std::pair<std::string, at::Tensor>> state_dict() const = 0;
  /// The trainable tensors among them.
  [[nodiscard]] virtual std::vector<at::Tensor> parameters() const = 0;
  /// What it was made from, for write_backbone; none when it is a program of its own (TorchScript).
  [[nodiscard]] virtual std::optional<NetworkOptions> options() const { return std::nullopt; }
};

/// A freshly initialised backbone (Kaiming normal, fan-out). Draws from LibTorch's generator. Throws UsageError for an
/// unknown architecture.
std::unique_ptr<Backbone> make_backbone(const NetworkOptions& options);

/// Reads a protocom backbone (npz), an ONNX file, a TorchScript file, or a state dict under Python names (`.npz`,
/// `.safetensors`), distinguished by content. A state dict that others publish is known by its names and shapes:
/// ResNet-18 to -152 of torchvision and timm, vision transformers of timm and DINOv2. For others `options` gives
/// architecture and normalisation to a bare state dict, and image_size to it and to TorchScript that does not state it;
/// a protocom file brings its own. A state dict may carry a prefix (`net.`, `module.`, `encoder.`), entries beyond the
/// backbone's (ignored with a warning), and its own normalisation as entries `mean` and `std` of three values, which
/// then wins over `options`. Throws Error: unknown format, missing or misshaped entry (by name), NaN or infinite entry,
/// output that is not [n, d].
std::unique_ptr<Backbone> read_backbone(const std::filesystem::path& path, const NetworkOptions& options);

/// The backbone of open_encoder: read_backbone for a caller who knows of a foreign file only what its user says. Throws
/// what open_encoder throws.
std::unique_ptr<Backbone> open_backbone(const std::filesystem::path& path, const EncoderFileOptions& asked);

/// What as_one_file does for the encoders of LibTorch.
std::filesystem::path backbone_as_one_file(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                           const std::filesystem::path& folder);

/// Writes a protocom backbone: state dict and options. Throws Error.
void write_backbone(const std::filesystem::path& path, const Backbone& backbone, const NetworkOptions& options,
                    const Provenance& provenance);

/// The header that write_backbone gives the file, for a training checkpoint that is to read as a backbone:
/// read_backbone ignores members that begin with kTrainingPrefix.
ArtefactHeader backbone_header(const Backbone& backbone, const NetworkOptions& options, const Provenance& provenance);

/// How the members of a training checkpoint begin that are not part of the backbone (momentum, classifier).
inline constexpr const char* kTrainingPrefix = "training.";

}  // namespace protocom
