#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "networks/detail/feature_module.h"

namespace protocom {

/// Tensors under their state-dict names.
using StateDict = std::map<std::string, at::Tensor>;

/// A freshly initialised network of that name. Throws UsageError for an unknown one.
std::shared_ptr<FeatureModule> make_module(const std::string& architecture);

/// The architecture whose names and shapes these are, for those that others publish: resnet18 to resnet152 of
/// torchvision and timm, vision transformers of timm and DINOv2. None for what is like no one of them, our own networks
/// among it. Throws Error for a variant whose extra entries change the features.
std::optional<std::string> published_architecture(const StateDict& state);

/// Throws Error if a transformer of that name would be of other sizes than these tensors: the name may come from a
/// file, and decides how much memory is taken before the tensors are compared.
void check_fits(const std::string& architecture, const StateDict& state);

}  // namespace protocom
