#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/array.h"
#include "base/error.h"
#include "encoders/engine.h"
#include "encoders/network_options.h"
#include "encoders/precision.h"
#include "images/preprocessing.h"

namespace protocom {

/// Where an encoder computes, and in which number format.
struct EncoderTarget {
  std::string device = "auto";  ///< "cpu", "cuda", "cuda:N" or "auto", the first GPU if there is one
  Precision precision = Precision::kFloat32;
};

/// An image encoder f: pixels to features. Normalisation is inside. Not thread-safe; it runs on several cores by
/// itself.
class Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  virtual ~Encoder() = default;

  /// Moves it to its place, before the first image and whenever that changes. Throws UsageError for a device or a
  /// precision that is not there.
  virtual void prepare(const EncoderTarget& place) = 0;
  /// Promises that it only extracts features from now on, in the place that it is prepared for: what passes need may be
  /// prepared once, for the threads that there are now. Features differ by rounding.
  virtual void freeze() = 0;

  /// uint8 [n, h, w, 3], RGB -> float32 [n, dim()]. Throws Error if it gives features of another length.
  virtual Array features(const Array& pixels) = 0;
  /// The last feature maps: uint8 [n, h, w, 3] -> float16 [n, c, h', w']. Throws Error when the encoder has none.
  virtual Array maps(const Array& pixels) = 0;

  /// d, the length of a feature.
  [[nodiscard]] virtual int64_t dim() const = 0;
  /// The side of the square images it expects.
  [[nodiscard]] virtual int64_t image_size() const = 0;
  /// What files are brought to before they are images for it, and what it does itself (mean, std).
  [[nodiscard]] virtual Preprocessing preprocessing() const = 0;
  /// What computes it: "torch" or "onnxruntime".
  [[nodiscard]] virtual std::string engine() const = 0;
};

/// Neither an encoder's file nor its user states which images it takes.
class UnstatedPreprocessing : public Error {
 public:
  explicit UnstatedPreprocessing(std::string_view message);
  UnstatedPreprocessing(const UnstatedPreprocessing& other);
  ~UnstatedPreprocessing() override;
};

/// What is known of an encoder's file besides what it states itself: `preprocessing` wins over what a TorchScript file
/// states (its extra file `preprocessing.json`, or its attribute `image_size`); a protocom file's own and a state
/// dict's entries `mean` and `std` win over it, with a warning.
struct EncoderFileOptions {
  std::string architecture = NetworkOptions().architecture;  ///< of a bare state dict
  std::optional<Preprocessing> preprocessing = {};
  int64_t known_size = 0;
  std::string output = {};  ///< which of an ONNX or TorchScript file's; empty: found
  Engine engine = protocom::engine();
};

/// Opens an encoder by its path, or by its name where it is installed (find_encoder): a protocom backbone (npz), an
/// ONNX, TensorFlow Lite or TorchScript file, a state dict under Python names (`.npz`, `.safetensors`), a folder of
/// Hugging Face or timm, distinguished by content. If TorchScript or a state dict of our own networks states
/// nothing and the user chooses nothing, the images' own size `known_size` is taken and logged. Throws
/// UnstatedPreprocessing that says how to state it where that is 0, and for a state dict that others publish, whose
/// normalisation it would leave to a guess; Error for a file that is damaged, unknown or not an encoder of features,
/// and for an engine that is not there or does not read it.
std::unique_ptr<Encoder> open_encoder(const std::filesystem::path& path, const EncoderFileOptions& asked);

/// The encoder that open_encoder makes of these, as one file that needs nothing else: `path` itself, or a file in
/// `folder` where tensors lie in other files or an output was requested. Throws Error.
std::filesystem::path as_one_file(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                  const std::filesystem::path& folder);

/// What identifies an encoder for files that were made with it: hash_file of what as_one_file gives, so that tensors
/// outside of an ONNX file and the output that was requested count, and the time at which a folder was copied does not.
/// Equals the hash that a recognizer keeps. Throws Error.
std::string hash_encoder(const std::filesystem::path& path, const EncoderFileOptions& asked);

/// The file or folder to read of an encoder that is named as find_encoder takes it: of a folder with config.json its
/// onnx/model.onnx where it has no other weights, of one without config.json its one file of a kind that encoders are
/// saved as (ONNX, TensorFlow Lite, TorchScript, weights); anything else as it is. Throws Error for a folder with none
/// or several, and what find_encoder throws.
std::filesystem::path encoder_at(const std::filesystem::path& name_or_path);

/// The name of a fitted space in the folder of its encoder.
inline constexpr const char* kSpaceFile = "space.npz";
/// The space that a folder of an encoder brings along; empty for none, and for a file.
std::filesystem::path space_beside(const std::filesystem::path& encoder);

/// Whether a device is the processor: "cpu" is, and "auto" if there is no GPU. Throws UsageError when there is no
/// such device.
bool runs_on_processor(const std::string& device);

}  // namespace protocom
