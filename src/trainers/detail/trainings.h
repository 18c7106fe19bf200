#pragma once
#include "training/complete.h"
#include "training/metatrain.h"
#include "training/pretrain.h"

namespace protocom {

/// The functions named in training/torch_functions.h.
PretrainResult run_pretrain(const PackedImages& images, const PretrainRecipe& options, const TrainingFiles& files,
                            Progress& progress);
CompletionTraining run_completion(const CompleteInputs& inputs, const CompleteRecipe& options,
                                  const TrainingFiles& files, Progress& progress);
MetatrainResult run_metatrain(const MetatrainInputs& inputs, const MetatrainOptions& options,
                              const MetatrainFiles& files, Progress& progress);

}  // namespace protocom
