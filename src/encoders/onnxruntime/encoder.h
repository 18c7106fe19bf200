#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encoders/encoder.h"
#include "encoders/onnx_file.h"
#include "encoders/onnxruntime/session.h"

namespace protocom::onnxruntime {

/// An ONNX file computed by ONNX Runtime, on the processor.
class OnnxEncoder final : public Encoder {
 public:
  /// Opens and tries the network. Throws Error for a file that is damaged, not an encoder of images, or rejected by
  /// ONNX Runtime; UsageError if the normalisation of images is unknown.
  OnnxEncoder(const std::filesystem::path& path, const EncoderFileOptions& asked);

  /// Throws UsageError for any device but the processor and for bfloat16.
  void prepare(const EncoderTarget& place) override;
  void freeze() override {}
  Array features(const Array& pixels) override;
  Array maps(const Array& pixels) override;
  [[nodiscard]] int64_t dim() const override { return dim_; }
  [[nodiscard]] int64_t image_size() const override { return preprocessing_.image_size; }
  [[nodiscard]] Preprocessing preprocessing() const override { return preprocessing_; }
  [[nodiscard]] std::string engine() const override { return "onnxruntime"; }

 private:
  /// Returns the graph's output for uint8 [n, h, w, 3].
  Array output(const Array& pixels);
  /// Computes a few images at once, as many as the graph takes.
  Array output_of_some(const Array& pixels);
  /// Whether two images together give the same outputs as each alone.
  bool takes_many(const Array& two);
  [[nodiscard]] int64_t images_a_pass(const Array& pixels);
  /// Returns the model prepared for the present use of threads.
  const LoadedModel& model();

  std::filesystem::path path_;
  std::shared_ptr<const onnx::ModelParts> parts_;
  std::string hash_;                                        // of the parts
  std::vector<std::shared_ptr<const LoadedModel>> models_;  // the last ones used, the newest first
  onnx::ImageInput input_;
  std::string output_;
  Preprocessing preprocessing_;
  std::optional<bool> takes_many_;
  int64_t dim_ = 0;
};

}  // namespace protocom::onnxruntime
