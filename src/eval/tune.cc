#include "protocom/eval/tune.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>

#include "protocom/core/artefact.h"
#include "protocom/core/error.h"
#include "protocom/core/json.h"
#include "protocom/core/log.h"
#include "protocom/fewshot/parameter_tries.h"

namespace protocom {
namespace {

using nlohmann::json;

/// A method's name and the parameters that its text sets.
struct Setting {
  std::string name;
  std::map<std::string, std::string> parameters;

  explicit Setting(const std::string& label) : name(label.substr(0, label.find(':'))) {
    for (size_t begin = label.find(':'); begin != std::string::npos;) {
      const size_t end = label.find(':', begin + 1);
      const std::string one = label.substr(begin + 1, end - begin - 1);
      parameters[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
      begin = end;
    }
  }

  [[nodiscard]] std::string label() const {
    std::string text = name;
    for (const auto& [parameter, value] : parameters) text += fmt::format(":{}={}", parameter, value);
    return make_method(text)->label();
  }
};

/// The walk of one method.
class Walk {
 public:
  Walk(const std::string& method, int64_t budget, const MeasureSetting& measure)
      : fixed_(method), budget_(static_cast<size_t>(budget)), measure_(measure) {
    take(make_method(method)->label());
  }

  TunedMethod run() {
    size_t before = 0;
    do {
      before = found_.best;
      for (const ParameterSpec& parameter : method_spec(fixed_.name).parameters) {
        if (fixed_.parameters.count(parameter.name) == 0) along(parameter);
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
    values.push_back(parameter.default_value);
    Setting setting(found_.chosen().method);
    for (const ParameterValue& value : values) {
      setting.parameters[parameter.name] = to_string(value);
      take(setting.label());
    }
  }

  void take(const std::string& label) {
    const bool known = std::any_of(found_.tried.begin(), found_.tried.end(),
                                   [&](const TriedSetting& one) { return one.method == label; });
    if (known || found_.tried.size() >= budget_) return;
    found_.tried.push_back(measure_(label));
    if (found_.tried.back().accuracy.value > found_.chosen().accuracy.value) found_.best = found_.tried.size() - 1;
  }

  Setting fixed_;
  size_t budget_;
  const MeasureSetting& measure_;
  TunedMethod found_;
};

/// One setting on all episodes.
TriedSetting measured(const EvaluateInputs& inputs, const std::vector<Task>& tasks, const EvaluateOptions& options) {
  const std::clock_t begun = std::clock();
  std::vector<double> accuracy;
  for (const Task& task : tasks) {
    for (const EpisodeList& list : task.lists) {
      const auto scores = evaluate(inputs, list, options, Progress::none());
      accuracy.insert(accuracy.end(), scores.front().accuracy.begin(), scores.front().accuracy.end());
    }
  }
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  return {options.methods.front()->label(), estimate(accuracy), seconds};
}

void check_split(const std::vector<Task>& tasks) {
  for (const Task& task : tasks) {
    for (const EpisodeList& list : task.lists) {
      if (list.split == Split::kNovel)
        fail_usage(
            "parameters are not chosen on novel classes, because what is chosen on them cannot be reported on them; "
            "take --split val");
    }
  }
}

}  // namespace

TunedMethod walk_settings(const std::string& method, int64_t budget, const MeasureSetting& measure) {
  if (budget < 1) fail_usage("the budget must be at least 1 setting, found {}", budget);
  return Walk(method, budget, measure).run();
}

std::vector<TunedMethod> tune(const EvaluateInputs& inputs, const std::vector<Task>& tasks, const TuneOptions& options,
                              Progress& progress) {
  if (options.methods.empty()) fail_usage("no method to tune");
  check_split(tasks);
  make_methods(options.methods, options.fitted);  // what cannot be made is said before the first is measured
  std::vector<TunedMethod> tuned;
  progress.start("tune", static_cast<int64_t>(options.methods.size()));
  for (const std::string& method : options.methods) {
    const auto measure = [&](const std::string& text) {
      EvaluateOptions evaluation;
      evaluation.methods = {make_method(text, options.fitted)};
      try {
        return measured(inputs, tasks, evaluation);
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {  // answers that roundings decide, for instance, fail a check of evaluate()
        logger().warn("'{}' is not chosen: {}", text, error.what());
        return TriedSetting{text, {}, 0};
      }
    };
    tuned.push_back(walk_settings(method, options.budget, measure));
    if (tuned.back().chosen().accuracy.value == 0) fail("no setting of '{}' that was tried could be measured", method);
    progress.advance(1, tuned.back().chosen().method);
  }
  progress.finish();
  return tuned;
}

json tuned_json(const std::vector<TunedMethod>& tuned) {
  json out = {{"chosen", json::array()}, {"tried", json::array()}};
  for (const TunedMethod& method : tuned) {
    out["chosen"].push_back(method.chosen().method);
    for (size_t i = 0; i < method.tried.size(); ++i) {
      const TriedSetting& one = method.tried[i];
      out["tried"].push_back({{"method", one.method},
                              {"accuracy", one.accuracy.value},
                              {"ci95", one.accuracy.ci95},
                              {"seconds", one.seconds},
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
    fail("{} has no header or no list 'chosen' of methods: is it what `protocom tune --out` wrote?", path.string());
  } catch (const UsageError& error) {
    fail("{}: {}", path.string(), error.what());
  }
}

}  // namespace protocom
