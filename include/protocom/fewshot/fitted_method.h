#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "protocom/core/artefact.h"
#include "protocom/fewshot/methods.h"

namespace protocom {

/// A method that was fitted, with what it was fitted on.
struct FittedMethod {
  std::shared_ptr<Method> method;
  int64_t feature_dim = 0;
  std::vector<std::string> trained_on = {};  ///< names of the base classes
};

/// One npz of the kind "fitted-method": `state.<name>` for each tensor of Method::state, the header with the method as
/// make_method takes it, the feature dimension and the base classes. `details` goes into the header too. Throws Error.
void write_fitted_method(const std::filesystem::path& path, const FittedMethod& fitted, const Provenance& provenance,
                         const nlohmann::json& details);

/// Reads such a file. Throws Error that names what is missing, misshaped or not finite, and for a method or parameter
/// that this protocom does not know.
FittedMethod read_fitted_method(const std::filesystem::path& path);

/// make_methods() in which a method that needs fitting is taken from the files: without parameters as it was fitted,
/// with parameters as another method of the same state. Throws UsageError when a method has to be fitted and no file
/// has it, and for a file whose method is not named.
Methods make_methods(const std::vector<std::string>& texts, const std::vector<FittedMethod>& fitted);

/// What is compared unless methods are named: the mean, with a completion model the paper's rows, and whatever was
/// fitted, what takes the same file before it. `model` may be null.
std::vector<std::string> default_methods(const CompletionModel* model, const std::vector<FittedMethod>& fitted);

}  // namespace protocom
