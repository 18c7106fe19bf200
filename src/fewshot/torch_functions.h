#pragma once
#include <memory>
#include <string>

#include "base/plugin.h"
#include "fewshot/method.h"

/// What LibTorch does for methods, which its plug-in provides.
namespace protocom {

/// The method of that name that is trained by gradients (MethodSpec::trained_by_torch). `options` are those of
/// trained/NAME.h: define_trained() calls it with them.
extern PluginFunction<std::unique_ptr<Method>(const std::string& name, const void* options)> torch_make_trained;

}  // namespace protocom
