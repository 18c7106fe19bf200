#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "eval/evaluation_tasks.h"
#include "fewshot/fitted_method.h"

namespace protocom {

/// Settings of a search for parameters.
struct TuneOptions {
  std::vector<std::string> methods;  ///< as make_method() takes them; a parameter that is typed stays as it is
  /// Of methods that need fitting: what counts in fitting then stays as it is. One without a file is fitted for every
  /// setting, on base classes alone.
  std::vector<FittedMethod> fitted = {};
  int64_t budget = 16;  ///< settings a method, the one it begins with included: the same for all
  uint64_t seed = 1;    ///< of fitting
};

/// A setting and what it reached.
struct TriedSetting {
  std::string method;  ///< Method::label
  Estimate accuracy;   ///< percent, over the episodes of all tasks together
  double seconds = 0;  ///< of processor
};

/// A method's settings in the order in which they were tried, at least one.
struct TunedMethod {
  std::vector<TriedSetting> tried;
  size_t best = 0;  ///< in `tried`: the first of the highest accuracy

  [[nodiscard]] const TriedSetting& chosen() const { return tried[best]; }
};

/// What a setting (a method's text) reaches.
using MeasureSetting = std::function<TriedSetting(const std::string& method)>;

/// Walks parameter_tries() coordinate by coordinate from `method`: every value of one parameter while the others
/// stay as they are best, then the next parameter, from the first again until nothing gets better or `budget` settings
/// have been measured. Throws UsageError for a method that cannot be made and a budget below 1.
TunedMethod walk_settings(const std::string& method, int64_t budget, const MeasureSetting& measure);

/// The same for every method, on the episodes of `tasks`. A setting that fails a check of evaluate_checked() counts as
/// 0 %, with a warning. Throws UsageError for tasks of novel classes: what is chosen
/// on them cannot be reported on them.
std::vector<TunedMethod> tune(const EvaluateInputs& inputs, const std::vector<EvaluationTask>& tasks,
                              const TuneOptions& options, Progress& progress);

/// Fits again, with the chosen setting, what tune() fitted for every one, val classes seen as fit_method() does.
std::vector<FittedMethod> fit_chosen(const EvaluateInputs& inputs, const std::vector<TunedMethod>& tuned,
                                     const TuneOptions& options, Progress& progress);

/// {"chosen": [labels], "tried": [{method, accuracy, ci95, seconds, chosen}]}
nlohmann::json tuned_json(const std::vector<TunedMethod>& tuned);

/// Kind and version in the header of a file of `protocom tune`.
inline constexpr const char* kTunedKind = "tuned methods";
inline constexpr int kTunedVersion = 1;

/// The labels that a file of `protocom tune` chose, {"header", ...tuned_json()}. Throws Error that names the file for
/// another one, a version that is not known, and a method or parameter that is not.
std::vector<std::string> read_chosen(const std::filesystem::path& path);

}  // namespace protocom
