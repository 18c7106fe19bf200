#pragma once
#include <memory>
#include <string>

#include "base/plugin.h"
#include "fewshot/method.h"

/// Functions for methods that need LibTorch, provided by its plug-in.
namespace protocom {

/// Makes the method of that name that is trained by gradients (MethodSpec::trained_by_torch). `options` are those of
/// trained/NAME.h, as passed by define_trained().
extern PluginFunction<std::unique_ptr<Method>(const std::string& name, const void* options)> torch_make_trained;

}  // namespace protocom
