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
  std::vector<std::string> methods;  ///< as for make_method(); parameters that are typed stay fixed
  /// For methods that need fitting; their parameters of fitting then stay fixed. A method without a file is fitted for
  /// every setting, on base classes alone.
  std::vector<FittedMethod> fitted = {};
  int64_t budget = 16;  ///< settings per method, including the first: the same for all
  uint64_t seed = 1;    ///< for fitting
};

/// A setting and its result.
struct TriedSetting {
  std::string method;  ///< Method::label
  Estimate accuracy;   ///< percent, over the episodes of all tasks together
  double seconds = 0;  ///< processor time
};

/// A method's settings in the order in which they were tried, at least one.
struct TunedMethod {
  std::vector<TriedSetting> tried;
  size_t best = 0;  ///< index in `tried`: the first with the highest accuracy

  [[nodiscard]] const TriedSetting& chosen() const { return tried[best]; }
};

/// Measures a setting (a method's text).
using MeasureSetting = std::function<TriedSetting(const std::string& method)>;

/// Walks parameter_tries() coordinate by coordinate from `method`: every value of one parameter with the others at
/// their best values, then the next parameter, starting again from the first until nothing improves or `budget`
/// settings have been measured. Throws UsageError for a method that cannot be made and a budget below 1.
TunedMethod walk_settings(const std::string& method, int64_t budget, const MeasureSetting& measure);

/// Walks the settings of every method, on the episodes of `tasks`. A setting that fails a check of evaluate_checked()
/// counts as 0 %, with a warning. Throws UsageError for tasks of novel classes: settings chosen on them cannot be
/// reported on them.
std::vector<TunedMethod> tune(const EvaluateInputs& inputs, const std::vector<EvaluationTask>& tasks,
                              const TuneOptions& options, Progress& progress);

/// Refits, with the chosen setting, the methods that tune() fitted for every setting, with val classes as in
/// fit_method().
std::vector<FittedMethod> fit_chosen(const EvaluateInputs& inputs, const std::vector<TunedMethod>& tuned,
                                     const TuneOptions& options, Progress& progress);

/// Returns {"chosen": [labels], "tried": [{method, accuracy, ci95, seconds, chosen}]}.
nlohmann::json tuned_json(const std::vector<TunedMethod>& tuned);

/// Kind and version in the header of a file of `protocom tune`.
inline constexpr const char* kTunedKind = "tuned methods";
inline constexpr int kTunedVersion = 1;

/// Reads the labels chosen in a file of `protocom tune`, {"header", ...tuned_json()}. Throws Error that names the file
/// for another kind, an unknown version, and an unknown method or parameter.
std::vector<std::string> read_chosen(const std::filesystem::path& path);

}  // namespace protocom
