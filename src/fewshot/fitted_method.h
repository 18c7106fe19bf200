#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fewshot/methods.h"
#include "io/artefact.h"

namespace protocom {

/// A method that was fitted, with what it was fitted on.
struct FittedMethod {
  std::shared_ptr<Method> method;
  int64_t feature_dim = 0;
  std::vector<std::string> trained_on = {};  ///< names of the base classes
  std::vector<std::string> findings = {};    ///< what fitting found (Method::findings), also of a file that was read
};

/// Fits a method, as make_method takes it. Same inputs, same method. Throws UsageError for a method that needs no
/// fitting, takes the file of another one, or lacks knowledge or maps, Error without features of base classes.
FittedMethod fit_method(const std::string& method, const FitInputs& inputs);

/// One npz of the kind "fitted-method": `state.<name>` for each tensor of Method::state, the header with the method as
/// make_method takes it, the feature dimension, the base classes, the findings, and Method::details as "fit". `details`
/// goes into the header too. Throws Error.
void write_fitted_method(const std::filesystem::path& path, const FittedMethod& fitted, const Provenance& provenance,
                         const nlohmann::json& details);

/// Reads such a file. Throws Error that names what is missing, misshaped or not finite, and for
/// a method or parameter that this protocom does not know.
FittedMethod read_fitted_method(const std::filesystem::path& path);

/// A fitted method as a space for any classes (Method::as_space); it was trained on no class. Throws Error for a method
/// without a space.
FittedMethod space_of(const FittedMethod& fitted);

/// The same of such a file. Throws Error as read_fitted_method too.
FittedMethod read_space(const std::filesystem::path& path);

/// make_methods() in which a method that needs fitting is taken from the files: without parameters as it was fitted,
/// with parameters as another method of the same state; those that count in fitting (ParameterSpec::when_fitted) are
/// the file's. Of several files of one method it is the one fitted with the parameters requested. Throws UsageError
/// when a method has to be fitted and no file has it or several may be meant, for parameters of fitting that are not
/// those of the file, and for a file whose method is not named.
Methods make_methods(const std::vector<std::string>& texts, const std::vector<FittedMethod>& fitted);

/// One of them; the files may have others too.
std::shared_ptr<const Method> make_method(const std::string& text, const std::vector<FittedMethod>& fitted);

/// For how many labelled images per class a method is fitted, its parameter `shots`; none if it is fitted for any.
std::optional<int64_t> fitted_shots(const Method& method);

/// Labelled images per class of the tasks that a method is asked about.
struct Shots {
  int64_t fewest = 1;
  int64_t most = 1;
};

/// What its user is to know where a method was fitted for another number of labelled images per class than it is asked
/// about, one sentence with both numbers; empty if it was not.
std::string warning_of_other_shots(const Method& method, const Shots& asked);

/// What is compared unless methods are named, in the order in which it is shown: whatever was fitted, the same without
/// its knowledge where it has any, what else takes its file; then the mean, or with a completion model the paper's
/// rows. `model` may be null.
std::vector<std::string> default_methods(const CompletionModel* model, const std::vector<FittedMethod>& fitted);

}  // namespace protocom
