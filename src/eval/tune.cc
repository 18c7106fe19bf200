#include "eval/tune.h"

#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "base/log.h"
#include "eval/fit.h"
#include "fewshot/method_call.h"
#include "fewshot/methods.h"
#include "io/artefact.h"
#include "io/json.h"

namespace protocom {
namespace {

using nlohmann::json;

constexpr const char* kNoBudget = "budget: expected at least 1 setting, found {}";

/// Returns the label of a method with these parameters.
std::string label_of(const MethodCall& call) { return make_method(call.text())->label(); }

/// The parameters that a walk changes.
enum class Vary { kAll, kNotThoseOfFitting };

/// The walk over the settings of one method.
class Walk {
 public:
  Walk(const std::string& method, int64_t budget, Vary vary, const MeasureSetting& measure)
      : fixed_(method), budget_(static_cast<size_t>(budget)), vary_(vary), measure_(measure) {
    take(make_method(method)->label());
  }

  TunedMethod run() {
    size_t before = 0;
    do {
      before = found_.best;
      for (const ParameterSpec& parameter : method_spec(fixed_.name).parameters) {
        const bool is_kept = parameter.when_fitted && vary_ == Vary::kNotThoseOfFitting;
        if (fixed_.parameters.count(parameter.name) == 0 && !is_kept) along(parameter);
      }
    } while (found_.best != before && found_.tried.size() < budget_);
    return found_;
  }

 private:
  void along(const ParameterSpec& parameter) {
    const auto& tries = parameter_tries(fixed_.name);
    const auto found = tries.find(parameter.name);
    if (found == tries.end()) return;
    std::vector<ParameterValue> values = found->second;
    // A walk that has left the default may return to it.
    values.push_back(parameter.default_value);
    MethodCall setting(found_.chosen().method);
    for (const ParameterValue& value : values) {
      setting.parameters[parameter.name] = to_string(value);
      take(label_of(setting));
    }
  }

  void take(const std::string& label) {
    const bool known = std::any_of(found_.tried.begin(), found_.tried.end(),
                                   [&](const TriedSetting& setting) { return setting.method == label; });
    if (known || found_.tried.size() >= budget_) return;
    found_.tried.push_back(measure_(label));
    if (found_.tried.back().accuracy.value > found_.chosen().accuracy.value) found_.best = found_.tried.size() - 1;
  }

  MethodCall fixed_;
  size_t budget_;
  Vary vary_;
  const MeasureSetting& measure_;
  TunedMethod found_;
};

/// Measures a method on all episodes.
TriedSetting measured(const EvaluateInputs& inputs, const std::vector<EvaluationTask>& tasks,
                      const ScoringOptions& options) {
  std::vector<double> accuracy;
  for (const EvaluationTask& task : tasks) {
    for (const EpisodeList& list : task.lists) {
      const auto scores = evaluate(inputs, list, options, Progress::none());
      accuracy.insert(accuracy.end(), scores.front().accuracy.begin(), scores.front().accuracy.end());
    }
  }
  return {options.methods.front()->label(), estimate(accuracy), 0};
}

/// Whether a method uses one of the files.
bool takes(const std::string& text, const FittedMethod& file) {
  const MethodCall call(text);  // with a temporary GCC 14 warns that the spec might be a part of it
  const MethodSpec& spec = method_spec(call.name);
  return file.method->spec().name == (spec.fitted_as.empty() ? spec.name : spec.fitted_as);
}

bool has_file(const std::string& text, const std::vector<FittedMethod>& fitted) {
  return std::any_of(fitted.begin(), fitted.end(), [&](const FittedMethod& method) { return takes(text, method); });
}

/// Whether a method is fitted here for every setting: it needs fitting and has no file.
bool is_fitted_here(const std::string& text, const std::vector<FittedMethod>& fitted) {
  const MethodCall call(text);
  const MethodSpec& spec = method_spec(call.name);
  return spec.has(Need::kFitting) && spec.fitted_as.empty() && !has_file(text, fitted);
}

/// Fits a method on base classes alone: the setting is chosen on val classes.
FittedMethod fitted_here(const EvaluateInputs& inputs, const std::string& text, uint64_t seed) {
  return fit_method({inputs.features, inputs.knowledge, inputs.maps}, {text, seed, /*sees_val=*/false},
                    Progress::none());
}

/// Measures one setting of a method, fitted here if there is no file.
TriedSetting measured_setting(const EvaluateInputs& inputs, const std::vector<EvaluationTask>& tasks,
                              const TuneOptions& options, const std::string& text) {
  ScoringOptions evaluation;
  EvaluateInputs own = inputs;
  const std::clock_t begun = std::clock();
  if (is_fitted_here(text, options.fitted)) {
    const FittedMethod fitted = fitted_here(inputs, text, options.seed);
    evaluation.methods = {fitted.method};
    own.trained_on = fitted.trained_on;
  } else {
    evaluation.methods = {make_method(text, options.fitted)};
  }
  TriedSetting found = measured(own, tasks, evaluation);
  found.seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  return found;
}

/// Fails for methods that cannot be made before the first is measured.
void check_methods(const TuneOptions& options) {
  for (const std::string& text : options.methods) {
    if (!is_fitted_here(text, options.fitted)) make_method(text, options.fitted);
  }
  for (const FittedMethod& method : options.fitted) {
    const bool is_used = std::any_of(options.methods.begin(), options.methods.end(),
                                     [&](const std::string& text) { return takes(text, method); });
    if (!is_used)
      fail_usage("no method uses the file of '{0}': name '{0}' without a space, or leave the file out",
                 method.method->label());
  }
}

void check_split(const std::vector<EvaluationTask>& tasks) {
  for (const EvaluationTask& task : tasks) {
    for (const EpisodeList& list : task.lists) {
      if (list.split == Split::kNovel)
        fail_usage("parameters cannot be chosen on novel classes, on which results are reported: use --split val");
    }
  }
}

}  // namespace

TunedMethod walk_settings(const std::string& method, int64_t budget, const MeasureSetting& measure) {
  if (budget < 1) fail_usage(kNoBudget, budget);
  return Walk(method, budget, Vary::kAll, measure).run();
}

std::vector<TunedMethod> tune(const EvaluateInputs& inputs, const std::vector<EvaluationTask>& tasks,
                              const TuneOptions& options, Progress& progress) {
  if (options.methods.empty()) fail_usage("no method to tune");
  if (options.budget < 1) fail_usage(kNoBudget, options.budget);
  check_split(tasks);
  check_methods(options);
  std::vector<TunedMethod> tuned;
  progress.start("tune", static_cast<int64_t>(options.methods.size()));
  for (const std::string& method : options.methods) {
    const auto measure = [&](const std::string& text) {
      try {
        return measured_setting(inputs, tasks, options, text);
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {  // for instance, answers that depend on rounding fail a check of evaluate()
        logger().warn("'{}' is not chosen: {}", text, error.what());
        return TriedSetting{text, {}, 0};
      }
    };
    const Vary vary = has_file(method, options.fitted) ? Vary::kNotThoseOfFitting : Vary::kAll;
    tuned.push_back(Walk(method, options.budget, vary, measure).run());
    if (tuned.back().chosen().accuracy.value == 0) fail("no setting of '{}' that was tried could be measured", method);
    progress.advance(1, tuned.back().chosen().method);
  }
  progress.finish();
  return tuned;
}

std::vector<FittedMethod> fit_chosen(const EvaluateInputs& inputs, const std::vector<TunedMethod>& tuned,
                                     const TuneOptions& options, Progress& progress) {
  std::vector<FittedMethod> fitted;
  for (const TunedMethod& tuned_method : tuned) {
    const std::string& method = tuned_method.chosen().method;
    if (is_fitted_here(method, options.fitted))
      fitted.push_back(fit_method({inputs.features, inputs.knowledge, inputs.maps}, {method, options.seed}, progress));
  }
  return fitted;
}

json tuned_json(const std::vector<TunedMethod>& tuned) {
  json out = {{"chosen", json::array()}, {"tried", json::array()}};
  for (const TunedMethod& method : tuned) {
    out["chosen"].push_back(method.chosen().method);
    for (size_t i = 0; i < method.tried.size(); ++i) {
      const TriedSetting& setting = method.tried[i];
      out["tried"].push_back({{"method", setting.method},
                              {"accuracy", setting.accuracy.value},
                              {"ci95", setting.accuracy.ci95},
                              {"seconds", setting.seconds},
                              {"chosen", i == method.best}});
    }
  }
  return out;
}

std::vector<std::string> read_chosen(const std::filesystem::path& path) {
  const json parsed = read_json(path);
  try {
    const auto header = ArtefactHeader::from_json(parsed.at("header"), path.string());
    if (header.kind != kTunedKind || header.format_version != kTunedVersion) {
      fail("{} is a '{}' file of version {}, expected '{}' of version {}", path.string(), excerpt(header.kind),
           header.format_version, kTunedKind, kTunedVersion);
    }
    auto chosen = parsed.at("chosen").get<std::vector<std::string>>();
    make_methods(chosen);
    return chosen;
  } catch (const json::exception&) {
    fail("{}: missing header or list 'chosen' of methods: expected a file of `protocom tune --out`", path.string());
  } catch (const UsageError& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

}  // namespace protocom
