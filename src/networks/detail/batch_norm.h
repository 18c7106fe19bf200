#pragma once
#include <torch/torch.h>

#include "networks/batch_statistics.h"

namespace protocom {

/// Applies batch norm in training: over all processes under SharedBatchStatistics, else over the batch.
at::Tensor batch_norm(torch::nn::BatchNorm2d& norm, const at::Tensor& input);

}  // namespace protocom
