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

/// The purpose of a forward pass.
enum class BackboneMode {
  kUse,   ///< no gradients; batch norm with its running statistics
  kTune,  ///< gradients; batch norm with its running statistics, which are not updated
  kTrain  ///< gradients; batch norm with the batch's statistics, which update the running ones
};

/// An image encoder f: images to features. Includes normalisation, so every backbone takes plain RGB in [0, 1]. Not
/// thread-safe; forward uses several cores itself.
class Backbone {
 public:
  virtual ~Backbone() = default;

  /// Computes float32 [n, 3, h, w], RGB in [0, 1] -> float32 [n, dim()].
  virtual at::Tensor forward(const at::Tensor& images) = 0;
  /// Computes the last feature maps, float32 [n, c, h', w'] with channels first in memory: forward is their mean over
  /// positions for residual networks (c = d) and their flattening for Conv4 (c h' w' = d); for a vision transformer
  /// they are its patches' tokens (c = d), while forward gives the class token. Images and gradients as in forward.
  /// Throws Error if the backbone has none: a TorchScript file has those of its method `forward_maps`.
  virtual at::Tensor forward_maps(const at::Tensor& images);
  /// Dimension d of a feature.
  [[nodiscard]] virtual int64_t dim() const = 0;
  /// The side length of the square images that it takes.
  [[nodiscard]] virtual int64_t image_size() const = 0;
  /// How files are prepared as its images, and its own normalisation (mean, std).
  [[nodiscard]] virtual Preprocessing preprocessing() const;
  /// kUse is the initial state.
  virtual void set_mode(BackboneMode mode) = 0;
  virtual void to(c10::Device device) = 0;
  /// Promises that it stays in kUse, on the processor and in float32, with its present weights, so that it may prepare
  /// forward passes once for LibTorch's present threads (batch norm folded into convolutions, weights in the order in
  /// which they are read). Features differ by rounding; state_dict and parameters may be empty afterwards. Does nothing
  /// if it would gain nothing.
  virtual void freeze() {}
  /// The largest fast batch of a forward pass on the processor; split larger ones.
  [[nodiscard]] virtual int64_t most_images_a_pass() const { return std::numeric_limits<int64_t>::max(); }
  /// State-dict names (`layer1.conv1.weight`) and tensors, parameters and buffers; aliases, not copies.
  [[nodiscard]] virtual std::vector<std::pair<std::string, at::Tensor>> state_dict() const = 0;
  /// The trainable tensors among them.
  [[nodiscard]] virtual std::vector<at::Tensor> parameters() const = 0;
  /// The options that it was made from, for write_backbone; none if it is a program (TorchScript).
  [[nodiscard]] virtual std::optional<NetworkOptions> options() const { return std::nullopt; }
};

/// Makes a newly initialised backbone (Kaiming normal, fan-out). Draws from LibTorch's generator. Throws UsageError for
/// an unknown architecture.
std::unique_ptr<Backbone> make_backbone(const NetworkOptions& options);

/// Reads a protocom backbone (npz), an ONNX file, a TorchScript file, or a state dict under Python names (`.npz`,
/// `.safetensors`), recognised by content. A published state dict is recognised by its names and shapes: ResNet-18 to
/// -152 of torchvision and timm, vision transformers of timm and DINOv2. For other state dicts, `options` states
/// architecture and normalisation, and image_size, also for TorchScript that does not state it; a protocom file has its
/// own. A state dict may have a prefix (`net.`, `module.`, `encoder.`), entries beyond the backbone's (ignored with a
/// warning), and its own normalisation as entries `mean` and `std` of three values, which override `options`. Throws
/// Error: unknown format, entry that is missing or has the wrong shape (by name), NaN or infinite entry, output that is
/// not [n, d].
std::unique_ptr<Backbone> read_backbone(const std::filesystem::path& path, const NetworkOptions& options);

/// Opens a backbone as open_encoder does: like read_backbone, but knows of a file only what its user states. Throws
/// what open_encoder throws.
std::unique_ptr<Backbone> open_backbone(const std::filesystem::path& path, const EncoderFileOptions& asked);

/// Implements as_one_file for the encoders of LibTorch.
std::filesystem::path backbone_as_one_file(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                           const std::filesystem::path& folder);

/// Writes a protocom backbone: state dict and options. Throws Error.
void write_backbone(const std::filesystem::path& path, const Backbone& backbone, const NetworkOptions& options,
                    const Provenance& provenance);

/// Returns the header that write_backbone writes, for a training checkpoint that is also readable as a backbone:
/// read_backbone ignores members that begin with kTrainingPrefix.
ArtefactHeader backbone_header(const Backbone& backbone, const NetworkOptions& options, const Provenance& provenance);

/// Prefix of members of a training checkpoint that are not part of the backbone (momentum, classifier).
inline constexpr const char* kTrainingPrefix = "training.";

}  // namespace protocom
