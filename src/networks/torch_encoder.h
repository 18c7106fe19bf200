#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "encoders/encoder.h"
#include "networks/backbone.h"

namespace protocom {

/// A backbone as an encoder.
class TorchEncoder final : public Encoder {
 public:
  explicit TorchEncoder(std::unique_ptr<Backbone> backbone);
  /// Uses a backbone that outlives it, which others may change between passes.
  explicit TorchEncoder(Backbone& backbone);

  /// Moves the backbone to the device and sets it to use, not training.
  void prepare(const EncoderTarget& place) override;
  void freeze() override;
  Array features(const Array& pixels) override;
  Array maps(const Array& pixels) override;
  [[nodiscard]] int64_t dim() const override { return backbone_.dim(); }
  [[nodiscard]] int64_t image_size() const override { return backbone_.image_size(); }
  [[nodiscard]] Preprocessing preprocessing() const override { return backbone_.preprocessing(); }
  [[nodiscard]] std::string engine() const override { return "torch"; }
  [[nodiscard]] Backbone& backbone() { return backbone_; }

 private:
  /// Prepares for the default target if none was set.
  void prepare_once();

  std::unique_ptr<Backbone> own_;  // null: not owned
  Backbone& backbone_;
  Precision precision_ = Precision::kFloat32;
  c10::Device device_ = c10::kCPU;
  bool prepared_ = false;
};

/// Converts uint8 [n, size, size, 3] to a backbone's input, float32 [n, 3, size, size] in [0, 1], channels last in
/// memory.
at::Tensor to_float_images(const at::Tensor& pixels);

}  // namespace protocom
