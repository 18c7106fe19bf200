#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace protocom {

/// A tensor returned by a TorchScript program. Its name is a key of a dictionary, a field of a named tuple, else its
/// index; nested ones are named "hidden_states.3".
struct ScriptOutput {
  std::string name;  ///< empty if the program returns only this tensor
  at::Tensor value;
};

/// Returns every tensor in a program's result: tuples, lists and dictionaries are walked, other values skipped.
std::vector<ScriptOutput> outputs_of(const c10::IValue& given);

/// Returns the output that is the feature of this many images: the one `asked` for, the only one, the one with a name
/// that exporters use (encoders/feature_names.h), or the only float [n, d]. Throws Error with names and sizes to choose
/// from (--output).
ScriptOutput choose_output(const std::vector<ScriptOutput>& outputs, const std::string& asked, int64_t images);

}  // namespace protocom
