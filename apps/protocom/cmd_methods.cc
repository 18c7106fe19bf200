#include "base/json_text.h"
#include "cli.h"
#include "fewshot/methods.h"

namespace protocom::cli {
namespace {

struct MethodsArguments {
  std::string name;
  bool json = false;
};

/// Returns "fitting (optional)" for a need that the method also works without.
std::string need_text(const MethodSpec& spec, Need need) {
  return std::string(to_string(need)) + (is_optional(spec, need) ? " (optional)" : "");
}

std::string required_inputs(const MethodSpec& spec) {
  std::string text;
  for (const Need need : spec.needs) text += (text.empty() ? "" : ", ") + need_text(spec, need);
  if (spec.trained_by_torch) text += (text.empty() ? "" : ", ") + std::string("LibTorch (plug-in)");
  return text.empty() ? "nothing else" : text;
}

std::string parameter_range(const ParameterSpec& parameter) {
  if (!parameter.choices.empty()) return fmt::format("{}", fmt::join(parameter.choices, ", "));
  const char* kind = std::holds_alternative<int64_t>(parameter.default_value) ? "whole" : "real";
  return fmt::format("{} in [{:g}, {:g}]", kind, parameter.low, parameter.high);
}

std::string tried_values(const MethodSpec& spec, const ParameterSpec& parameter) {
  const auto& tries = parameter_tries(spec.name);
  const auto found = tries.find(parameter.name);
  std::string text;
  if (found == tries.end()) return text;
  for (const ParameterValue& value : found->second) text += (text.empty() ? "" : ", ") + to_string(value);
  return text;
}

void print_all() {
  std::vector<std::vector<std::string>> rows = {{"method", "mode", "needs", "what it does"}};
  for (const MethodSpec* spec : method_specs())
    rows.push_back({spec->name, std::string(spec->mode()), required_inputs(*spec), spec->about});
  print_table(rows);
  fmt::print("\nprotocom methods NAME shows one with its parameters; --methods NAME:parameter=value sets them.\n");
}

void print_one(const MethodSpec& spec) {
  fmt::print("{}: {}\n{}\n\n", spec.name, spec.about, spec.citation);
  print_table({{"mode", std::string(spec.mode())},
               {"assumes", spec.assumes == Assumes::kBalancedQueries ? "equally many queries of each class"
                                                                     : "any class proportions of the queries"},
               {"needs", required_inputs(spec)}});
  if (!spec.notes.empty()) fmt::print("\n{}\n", spec.notes);
  if (spec.parameters.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"parameter", "default", "takes", "tune tries", "what it is"}};
  for (const ParameterSpec& parameter : spec.parameters) {
    rows.push_back({parameter.name, to_string(parameter.default_value), parameter_range(parameter),
                    tried_values(spec, parameter), parameter.text + (parameter.when_fitted ? " (fit)" : "")});
  }
  fmt::print("\n");
  print_table(rows);
  if (spec.has(Need::kFitting)) fmt::print("\n(fit): used by `protocom fit`, whose file stores it\n");
  const ParameterSpec& first = spec.parameters.front();
  fmt::print("\nfor example: --methods {}:{}={}\n", spec.name, first.name, to_string(first.default_value));
}

void run_methods(const MethodsArguments& options) {
  const MethodSpec* method = options.name.empty() ? nullptr : &method_spec(options.name);
  if (!options.json) return method == nullptr ? print_all() : print_one(*method);
  nlohmann::json out = nlohmann::json::array();
  for (const MethodSpec* spec : method_specs()) {
    if (method == nullptr || spec == method) out.push_back(to_json(*spec));
  }
  fmt::print("{}\n", json_text(out, 2));
}

void add_methods_command(CLI::App& app) {
  auto options = std::make_shared<MethodsArguments>();
  CLI::App* command = add_command(app, "methods", "List methods, their assumptions and parameters",
                                  "protocom methods\nprotocom methods gauss-fusion");
  command->add_option("name", options->name, "A method; default: a list of all");
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options] { run_methods(*options); });
}

const Command kMethods{Group::kMeasuring, 10, &add_methods_command};

}  // namespace
}  // namespace protocom::cli
