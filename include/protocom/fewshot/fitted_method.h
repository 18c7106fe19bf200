#pragma once
#include <filesystem>
#include <memory>
#include <optional>
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
/// make_method takes it, the feature dimension, the base classes and Method::details as "fit". `details` goes into the
/// header too. Throws Error.
void write_fitted_method(const std::filesystem::path& path, const FittedMethod& fitted, const Provenance& provenance,
                         const nlohmann::json& details);

/// Reads such a file, also one of version 1. Throws Error that names what is missing, misshaped or not finite, and for
/// a method or parameter that this protocom does not know.
FittedMethod read_fitted_method(const std::filesystem::path& path);

/// make_methods() in which a method that needs fitting is taken from the files: without parameters as it was fitted,
/// with parameters as another method of the same state, which is fitted for as many `shots` as the file's. Throws
/// UsageError when a method has to be fitted and no file has it, for `shots` that are not those of the file, and for a
/// file whose method is not named.
Methods make_methods(const std::vector<std::string>& texts, const std::vector<FittedMethod>& fitted);

/// For how many labelled images a class a method is fitted, its parameter `shots`; none where it is fitted for any.
std::optional<int64_t> fitted_shots(const Method& method);

/// Labelled images a class of the tasks that a method is asked about.
struct Shots {
  int64_t fewest = 1;
  int64_t most = 1;
};

/// What its user is to know where a method was fitted for another number of labelled images a class than it is asked
/// about, one sentence with both numbers; empty where it was not.
std::string warning_of_other_shots(const Method& method, const Shots& asked);

/// What is compared unless methods are named: the mean, with a completion model the paper's rows, and whatever was
/// fitted, what takes the same file before it. `model` may be null.
std::vector<std::string> default_methods(const CompletionModel* model, const std::vector<FittedMethod>& fitted);

}  // namespace protocom
