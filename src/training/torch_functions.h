#pragma once
#include "base/plugin.h"
#include "training/complete.h"
#include "training/metatrain.h"
#include "training/pretrain.h"

/// Functions for trainings that need LibTorch, provided by its plug-in.
namespace protocom {

/// See pretrain; takes options that have been checked, with the images' size and a learning rate.
extern PluginFunction<PretrainResult(const PackedImages& images, const PretrainRecipe& options,
                                     const TrainingFiles& files, Progress& progress)>
    torch_pretrain;

/// See train_completion.
extern PluginFunction<CompletionTraining(const CompleteInputs& inputs, const CompleteRecipe& options,
                                         const TrainingFiles& files, Progress& progress)>
    torch_train_completion;

/// See metatrain; takes options that have been checked.
extern PluginFunction<MetatrainResult(const MetatrainInputs& inputs, const MetatrainOptions& options,
                                      const MetatrainFiles& files, Progress& progress)>
    torch_metatrain;

}  // namespace protocom
