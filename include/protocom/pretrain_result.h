#pragma once
#include <cstdint>
#include <optional>

#include "protocom/error.h"

namespace protocom::v0 {

/// The result of pre-training.
struct PretrainResult {
  int64_t epochs = 0;
  int64_t best_epoch = 0;                     ///< from 1
  std::optional<double> validation_accuracy;  ///< of the best epoch, in [0, 1]; none without validation
  double loss = 0;                            ///< mean over the last epoch
  double accuracy = 0;                        ///< on the augmented base images of the last epoch, in [0, 1]
  double images_per_second = 0;               ///< of the last epoch's training
  Warnings warnings = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::PretrainResult;
}  // namespace protocom
