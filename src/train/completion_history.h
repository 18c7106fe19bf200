#pragma once
#include <vector>

#include "protocom/train/complete.h"
#include "train/checkpoint.h"

namespace protocom {

/// Adds the epochs of a completion training to its checkpoint: in the position, but for the scores of single episodes,
/// which are too many numbers for text.
void save_history(const std::vector<CompleteEpoch>& epochs, Checkpoint& checkpoint);

/// The epochs of such a checkpoint, to the last bit.
std::vector<CompleteEpoch> load_history(const Checkpoint& checkpoint);

}  // namespace protocom
