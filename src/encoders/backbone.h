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

#include "images/preprocessing.h"
#include "io/artefact.h"

namespace protocom {

/// The largest side of images that a backbone takes, in pixels: a file must not ask for more memory than there is.
inline constexpr int64_t kLargestImage = 1024;

/// What a backbone is made from: its images, which it always normalises, and the network.
struct NetworkOptions : Preprocessing {
  /// "resnet12" (64-128-256-512), "resnet12-wide" (64-160-320-640), "conv4"; "resnet18", "resnet34", "resnet50",
  /// "resnet101", "resnet152" as torchvision and timm have them; "vit:..." as timm and DINOv2 do, which only a state
  /// dict spells out.
  std::string architecture = "resnet12";

  /// Images of 84 pixels with the authors' mean and standard deviation of RGB in [0, 1].
  NetworkOptions()
      : Preprocessing{
            84, 0, {120.396 / 255, 115.594 / 255, 104.540 / 255}, {70.682 / 255, 68.276 / 255, 72.545 / 255}} {}
  /// Takes sizes and normalisation; none is mean 0 and std 1.
  void set(const Preprocessing& preprocessing);
};

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
  /// nothing where nothing is gained.
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
/// `.safetensors`), told apart by content. A state dict that others publish is known by its names and shapes: ResNet-18
/// to -152 of torchvision and timm, vision transformers of timm and DINOv2. For others `options` gives architecture and
/// normalisation to a bare state dict, and image_size to it and to TorchScript that does not state it; a protocom file
/// brings its own. A state dict may carry a prefix (`net.`, `module.`, `encoder.`), entries beyond the backbone's
/// (ignored with a warning), and its own normalisation as entries `mean` and `std` of three values, which then wins
/// over `options`. Throws Error: unknown format, missing or misshaped entry (by name), NaN or infinite entry, output
/// that is not [n, d].
std::unique_ptr<Backbone> read_backbone(const std::filesystem::path& path, const NetworkOptions& options);

/// read_backbone for a caller who knows of a foreign file only what its user says: `preprocessing` wins over what a
/// TorchScript file states (its extra file `preprocessing.json`, or its attribute `image_size`); a protocom file's own
/// and a state dict's entries `mean` and `std` win over it, with a warning. For TorchScript or a state dict of our own
/// networks that states nothing and a user who says nothing the images' own size `known_size` is taken and logged.
/// Throws Error that says how to state it where that is 0, and for a state dict that others publish, whose
/// normalisation it would leave to a guess.
struct BackboneFileOptions {
  std::string architecture = NetworkOptions().architecture;  ///< of a bare state dict
  std::optional<Preprocessing> preprocessing = {};
  int64_t known_size = 0;
  std::string output = {};  ///< which of an ONNX or TorchScript file's; empty: found
};
std::unique_ptr<Backbone> open_backbone(const std::filesystem::path& path, const BackboneFileOptions& asked);

/// The backbone that open_backbone makes of these, as one file that needs nothing else: `path` itself, or a file in
/// `folder` where tensors lie in other files or an output was asked for. Throws Error.
std::filesystem::path as_one_file(const std::filesystem::path& path, const BackboneFileOptions& asked,
                                  const std::filesystem::path& folder);

/// What identifies an encoder for files that were made with it: hash_file of what as_one_file gives, so that tensors
/// outside of an ONNX file and the output that was asked for count, and the time at which a folder was copied does not.
/// Equals the hash that a recognizer keeps. Throws Error.
std::string hash_encoder(const std::filesystem::path& path, const BackboneFileOptions& asked);

/// The name of a fitted space in the folder of its encoder.
inline constexpr const char* kSpaceFile = "space.npz";
/// The space that a folder of an encoder brings along; empty for none, and for a file.
std::filesystem::path space_beside(const std::filesystem::path& encoder);

/// Writes a protocom backbone: state dict and options. Throws Error.
void write_backbone(const std::filesystem::path& path, const Backbone& backbone, const NetworkOptions& options,
                    const Provenance& provenance);

/// The header that write_backbone gives the file, for a training checkpoint that is to read as a backbone:
/// read_backbone ignores members that begin with kTrainingPrefix.
ArtefactHeader backbone_header(const Backbone& backbone, const NetworkOptions& options, const Provenance& provenance);

/// How the members of a training checkpoint begin that are not part of the backbone (momentum, classifier).
inline constexpr const char* kTrainingPrefix = "training.";

}  // namespace protocom
