#pragma once
#include <filesystem>

#include "networks/backbone.h"

namespace protocom {

/// A network made by others, as a Backbone: not trained by default.
class FixedBackbone : public Backbone {
 public:
  [[nodiscard]] int64_t dim() const override { return dim_; }
  [[nodiscard]] int64_t image_size() const override { return preprocessing_.image_size; }
  [[nodiscard]] Preprocessing preprocessing() const override { return preprocessing_; }
  /// Throws Error for training.
  void set_mode(BackboneMode mode) override;
  void to(c10::Device device) override;
  [[nodiscard]] std::vector<at::Tensor> parameters() const override { return {}; }

 protected:
  explicit FixedBackbone(const std::filesystem::path& path) : path_(path) {}

  /// See choose_preprocessing. Throws UsageError for an unsupported image size.
  void set_preprocessing(const Preprocessing& chosen);
  /// Determines the dimension from a trial image. Throws Error if its features are not finite.
  void try_out();
  /// Returns [n, 3, h, w] in 0 to 1, normalised for the network. Throws Error for other tensors.
  [[nodiscard]] at::Tensor normalised(const at::Tensor& images) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void set_dim(int64_t dim) { dim_ = dim; }

 private:
  std::filesystem::path path_;
  Preprocessing preprocessing_;
  at::Tensor mean_;  // [1, 3, 1, 1]; undefined: none
  at::Tensor std_;
  int64_t dim_ = 0;
};

}  // namespace protocom
