#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "encoders/encoder.h"
#include "encoders/onnx_file.h"
#include "encoders/onnxruntime/session.h"

namespace protocom::onnxruntime {

/// An ONNX file that ONNX Runtime computes, on the processor.
class OnnxEncoder final : public Encoder {
 public:
  /// Tries the network. Throws Error for a file that is damaged, no encoder of images, or refused by ONNX Runtime;
  /// UsageError where the normalisation of images is unknown.
  OnnxEncoder(const std::filesystem::path& path, const EncoderFileOptions& asked);

  /// Throws UsageError for another device than the processor and for bfloat16.
  void prepare(const EncoderTarget& place) override;
  void freeze() override {}
  Array features(const Array& pixels) override;
  Array maps(const Array& pixels) override;
  [[nodiscard]] int64_t dim() const override { return dim_; }
  [[nodiscard]] int64_t image_size() const override { return preprocessing_.image_size; }
  [[nodiscard]] Preprocessing preprocessing() const override { return preprocessing_; }
  [[nodiscard]] std::string engine() const override { return "onnxruntime"; }

 private:
  /// The output of uint8 [n, h, w, 3], as the graph gives it.
  Array output(const Array& pixels);
  /// Of a few images at once, as many as the graph takes.
  Array output_of_some(const Array& pixels);
  /// Whether two images together give what each gives.
  bool takes_many(const Array& two);
  [[nodiscard]] int64_t images_a_pass(const Array& pixels);
  /// Prepared for the threads that there are now.
  LoadedModel& model();

  std::filesystem::path path_;
  std::shared_ptr<const onnx::ModelParts> parts_;
  std::optional<LoadedModel> model_;
  onnx::ImageInput input_;
  std::string output_;
  Preprocessing preprocessing_;
  std::optional<bool> takes_many_;
  int64_t dim_ = 0;
};

}  // namespace protocom::onnxruntime
