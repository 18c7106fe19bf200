#pragma once
#include "base/plugin.h"
#include "training/complete.h"
#include "training/metatrain.h"
#include "training/pretrain.h"

/// What LibTorch does for trainings, which its plug-in provides.
namespace protocom {

/// See pretrain; of options that have been checked, with the images' sizes and a learning rate.
extern PluginFunction<PretrainResult(const PackedImages& images, const PretrainRecipe& options,
                                     const TrainingFiles& files, Progress& progress)>
    torch_pretrain;

/// See train_completion.
extern PluginFunction<CompletionTraining(const CompleteInputs& inputs, const CompleteRecipe& options,
                                         const TrainingFiles& files, Progress& progress)>
    torch_train_completion;

/// See metatrain; of options that have been checked.
extern PluginFunction<MetatrainResult(const MetatrainInputs& inputs, const MetatrainOptions& options,
                                      const MetatrainFiles& files, Progress& progress)>
    torch_metatrain;

}  // namespace protocom
