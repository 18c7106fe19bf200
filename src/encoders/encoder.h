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

/// The device of an encoder, and its number format.
struct EncoderTarget {
  std::string device = "auto";  ///< "cpu", "cuda", "cuda:N" or "auto", the first GPU if there is one
  Precision precision = Precision::kFloat32;
};

/// An image encoder f: pixels to features. Includes normalisation. Not thread-safe; it uses several cores itself.
class Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  virtual ~Encoder() = default;

  /// Moves it to a target, before the first image and whenever that changes. Throws UsageError for an unavailable
  /// device or precision.
  virtual void prepare(const EncoderTarget& place) = 0;
  /// Promises that only features are extracted from now on, on the target it is prepared for, so that it may prepare
  /// passes once, for the present number of threads. Features differ by rounding.
  virtual void freeze() = 0;

  /// Computes features: uint8 [n, h, w, 3], RGB -> float32 [n, dim()]. Throws Error if they have another length.
  virtual Array features(const Array& pixels) = 0;
  /// Computes the last feature maps: uint8 [n, h, w, 3] -> float16 [n, c, h', w']. Throws Error if the encoder has
  /// none.
  virtual Array maps(const Array& pixels) = 0;

  /// Dimension d of a feature.
  [[nodiscard]] virtual int64_t dim() const = 0;
  /// The side length of the square images that it takes.
  [[nodiscard]] virtual int64_t image_size() const = 0;
  /// How files are prepared as its images, and its own normalisation (mean, std).
  [[nodiscard]] virtual Preprocessing preprocessing() const = 0;
  /// The engine that computes it: "torch" or "onnxruntime".
  [[nodiscard]] virtual std::string engine() const = 0;
};

/// Thrown if neither an encoder's file nor its user states the preprocessing.
class UnstatedPreprocessing : public Error {
 public:
  explicit UnstatedPreprocessing(std::string_view message);
  UnstatedPreprocessing(const UnstatedPreprocessing& other);
  ~UnstatedPreprocessing() override;
};

/// Options for opening an encoder's file: `preprocessing` overrides what a TorchScript file states (its extra file
/// `preprocessing.json`, or its attribute `image_size`); a protocom file's own and a state dict's entries `mean` and
/// `std` override it, with a warning.
struct EncoderFileOptions {
  std::string architecture = NetworkOptions().architecture;  ///< for a bare state dict
  std::optional<Preprocessing> preprocessing = {};
  int64_t known_size = 0;
  std::string output = {};  ///< output of an ONNX or TorchScript file; empty: automatic
  Engine engine = protocom::engine();
};

/// Opens an encoder by its path, or by its name if it is installed (find_encoder): a protocom backbone (npz), an ONNX,
/// TensorFlow Lite or TorchScript file, a state dict under Python names (`.npz`, `.safetensors`), a folder of Hugging
/// Face or timm, recognised by content. If TorchScript or a state dict of our own networks states no preprocessing and
/// the user chooses none, plain images of size `known_size` are assumed, which is logged. If that is 0, and for a
/// published state dict, whose normalisation would be a guess, throws UnstatedPreprocessing that says how to state it;
/// Error for a file that is damaged, unknown or not an encoder of features, and for an engine that is missing or does
/// not read it.
std::unique_ptr<Encoder> open_encoder(const std::filesystem::path& path, const EncoderFileOptions& asked);

/// Returns the encoder that open_encoder would make as one self-contained file: `path` itself, or a file in `folder` if
/// tensors are in other files or an output was requested. Throws Error.
std::filesystem::path as_one_file(const std::filesystem::path& path, const EncoderFileOptions& asked,
                                  const std::filesystem::path& folder);

/// Returns the identity of an encoder for files that were made with it: hash_file of the result of as_one_file, so that
/// external tensors of an ONNX file and the requested output count, and the time at which a folder was copied does not.
/// Equals the hash stored in a recognizer. Throws Error.
std::string hash_encoder(const std::filesystem::path& path, const EncoderFileOptions& asked);

/// Returns the file or folder to read for an encoder named as in find_encoder: for a folder with config.json and no
/// other weights its onnx/model.onnx, for one without config.json its only file with a format of encoders (ONNX,
/// TensorFlow Lite, TorchScript, weights); anything else unchanged. Throws Error for a folder with none or several, and
/// what find_encoder throws.
std::filesystem::path encoder_at(const std::filesystem::path& name_or_path);

/// The name of a fitted space in the folder of its encoder.
inline constexpr const char* kSpaceFile = "space.npz";
/// Returns the space in an encoder's folder; empty for none, and for a file.
std::filesystem::path space_beside(const std::filesystem::path& encoder);

/// Whether a device is the processor: "cpu" is, and "auto" if there is no GPU. Throws UsageError if there is no such
/// device.
bool runs_on_processor(const std::string& device);

}  // namespace protocom
