#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fewshot/methods.h"
#include "io/artefact.h"

namespace protocom {

/// A fitted method and the data it was fitted on.
struct FittedMethod {
  std::shared_ptr<Method> method;
  int64_t feature_dim = 0;
  std::vector<std::string> trained_on = {};  ///< names of the base classes
  std::vector<std::string> findings = {};    ///< what the fit found (Method::findings), also after reading a file
};

/// Fits a method given as for make_method. Deterministic. Throws UsageError for a method that needs no fitting, uses
/// another method's file, or lacks knowledge or maps, Error without features of base classes.
FittedMethod fit_method(const std::string& method, const FitInputs& inputs);

/// Writes one npz of the kind "fitted-method": `state.<name>` for each tensor of Method::state, the header with the
/// method as make_method takes it, the feature dimension, the base classes, the findings, and Method::details as "fit".
/// `details` goes into the header too. Throws Error.
void write_fitted_method(const std::filesystem::path& path, const FittedMethod& fitted, const Provenance& provenance,
                         const nlohmann::json& details);

/// Reads such a file. Throws Error that names what is missing, has the wrong shape or is not finite, and for a method
/// or parameter unknown to this version.
FittedMethod read_fitted_method(const std::filesystem::path& path);

/// Returns a fitted method as a space for any classes (Method::as_space), with no class as trained on. Throws Error for
/// a method without a space.
FittedMethod space_of(const FittedMethod& fitted);

/// Reads a fitted method and returns it as a space. Throws Error as read_fitted_method too.
FittedMethod read_space(const std::filesystem::path& path);

/// Makes methods as make_methods() does, but takes those that need fitting from the files: without parameters as
/// fitted, with parameters as another method with the same state; parameters of fitting (ParameterSpec::when_fitted)
/// are the file's. Among several files of one method, uses the one fitted with the parameters requested. Throws
/// UsageError if no file has a method that needs fitting or several match, for parameters of fitting that differ from
/// the file's, and for a file whose method is not named.
Methods make_methods(const std::vector<std::string>& texts, const std::vector<FittedMethod>& fitted);

/// Makes a single method; the files may also contain others.
std::shared_ptr<const Method> make_method(const std::string& text, const std::vector<FittedMethod>& fitted);

/// Returns the number of labelled images per class that a method is fitted for, its parameter `shots`; nothing if it is
/// fitted for any.
std::optional<int64_t> fitted_shots(const Method& method);

/// Labelled images per class in the tasks that a method answers.
struct Shots {
  int64_t fewest = 1;
  int64_t most = 1;
};

/// Warns the user if a method was fitted for another number of labelled images per class than the tasks have, in one
/// sentence with both numbers; else returns empty.
std::string warning_of_other_shots(const Method& method, const Shots& asked);

/// Returns the methods compared unless some are named, in display order: the fitted ones, each also without its
/// knowledge if it has any, and other methods that use its file; then the mean, or with a completion model the paper's
/// rows. `model` may be null.
std::vector<std::string> default_methods(const CompletionModel* model, const std::vector<FittedMethod>& fitted);

}  // namespace protocom
