#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace protocom {

/// A tensor that a TorchScript program gives. Its name is a key of a dictionary, a field of a named tuple, else its
/// place from 0; within another one "hidden_states.3".
struct ScriptOutput {
  std::string name;  ///< empty if the program gives this tensor alone
  at::Tensor value;
};

/// Every tensor in what a program gave: tuples, lists and dictionaries are walked, other values passed over.
std::vector<ScriptOutput> outputs_of(const c10::IValue& given);

/// The output that is the feature of this many images: the one `asked` for, the only one, the one that exporters call
/// so (encoders/feature_names.h), or the only float [n, d]. Throws Error with names and sizes to choose from
/// (--output).
ScriptOutput choose_output(const std::vector<ScriptOutput>& outputs, const std::string& asked, int64_t images);

}  // namespace protocom
