#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "networks/detail/feature_module.h"

namespace protocom {

/// Tensors by state-dict name.
using StateDict = std::map<std::string, at::Tensor>;

/// Makes a newly initialised network of that architecture. Throws UsageError for an unknown one.
std::shared_ptr<FeatureModule> make_module(const std::string& architecture);

/// Returns the architecture with these names and shapes, if published: resnet18 to resnet152 of torchvision and timm,
/// vision transformers of timm and DINOv2. Nothing for others, including our own networks. Throws Error for a variant
/// whose extra entries change the features.
std::optional<std::string> published_architecture(const StateDict& state);

/// Throws Error if a transformer of that name would have other sizes than these tensors: the name may come from a file,
/// and determines how much memory is allocated before the tensors are compared.
void check_fits(const std::string& architecture, const StateDict& state);

}  // namespace protocom
