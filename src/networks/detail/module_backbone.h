#pragma once
#include <memory>

#include "networks/backbone.h"
#include "networks/detail/feature_module.h"

namespace protocom {

/// One of our own networks as a Backbone.
class ModuleBackbone : public Backbone {
 public:
  /// Throws UsageError for an unknown architecture, an image size below 16, or a normalisation that is not three means
  /// and three positive stds.
  explicit ModuleBackbone(const NetworkOptions& options);

  at::Tensor forward(const at::Tensor& images) override;
  at::Tensor forward_maps(const at::Tensor& images) override;
  [[nodiscard]] int64_t dim() const override { return module_->dim(options_.image_size); }
  [[nodiscard]] int64_t image_size() const override { return options_.image_size; }
  [[nodiscard]] Preprocessing preprocessing() const override { return options_; }
  void set_mode(BackboneMode mode) override;
  void to(c10::Device device) override;
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state_dict() const override;
  [[nodiscard]] std::vector<at::Tensor> parameters() const override { return module_->parameters(); }
  [[nodiscard]] std::optional<NetworkOptions> options() const override { return options_; }

 private:
  at::Tensor normalised(const at::Tensor& images) const;

  NetworkOptions options_;
  BackboneMode mode_ = BackboneMode::kUse;
  std::shared_ptr<FeatureModule> module_;
  at::Tensor mean_;  // [1, 3, 1, 1]
  at::Tensor std_;   // [1, 3, 1, 1]
};

/// Throws Error unless images are float [n, 3, h, w].
void check_images(const at::Tensor& images);

}  // namespace protocom
