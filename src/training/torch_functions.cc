#include "training/torch_functions.h"

namespace protocom {

PluginFunction<PretrainResult(const PackedImages&, const PretrainRecipe&, const TrainingFiles&, Progress&)>
    torch_pretrain("pre-training");
PluginFunction<CompletionTraining(const CompleteInputs&, const CompleteRecipe&, const TrainingFiles&, Progress&)>
    torch_train_completion("a completion training");
PluginFunction<MetatrainResult(const MetatrainInputs&, const MetatrainOptions&, const MetatrainFiles&, Progress&)>
    torch_metatrain("joint meta-training");

}  // namespace protocom
