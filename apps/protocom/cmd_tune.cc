#include "base/json_text.h"
#include "cli.h"
#include "datasets/feature_preprocessing.h"
#include "eval/tune.h"
#include "evaluation_inputs.h"
#include "task_options.h"

namespace protocom::cli {
namespace {

struct TuneArguments {
  TaskOptions tasks;
  TuneOptions tune;
  std::string out, save_fitted;

  TuneArguments() {
    tasks.split = Split::kVal;
    tasks.shots = {"1"};
  }
};

void print_tuned(const std::vector<TunedMethod>& tuned) {
  std::vector<std::vector<std::string>> table = {{"setting", "accuracy %", "±", "processor s", ""}};
  for (const TunedMethod& method : tuned) {
    for (size_t i = 0; i < method.tried.size(); ++i) {
      const TriedSetting& setting = method.tried[i];
      table.push_back({setting.method, fmt::format("{:.2f}", setting.accuracy.value),
                       fmt::format("{:.2f}", setting.accuracy.ci95), fmt::format("{:.1f}", setting.seconds),
                       i == method.best ? "chosen" : ""});
    }
  }
  print_table(table);
}

/// Writes one file per method that was fitted here: NAME.npz.
void save_fitted(const EvaluationData& data, const std::vector<TunedMethod>& tuned, const TuneArguments& options,
                 const Provenance& provenance) {
  std::filesystem::create_directories(options.save_fitted);
  for (const FittedMethod& fitted_method : fit_chosen(data.inputs(), tuned, options.tune, progress())) {
    const auto path = std::filesystem::path(options.save_fitted) / (fitted_method.method->spec().name + ".npz");
    write_fitted_method(path, fitted_method, provenance, preprocessing_details(data.files.features));
  }
}

void run_tune(const CLI::App& command, TuneArguments& options, const EvaluationData& data) {
  options.tune.fitted = data.fitted;
  const auto tasks = tasks_of(command, data.features, options.tasks);
  options.tune.seed = tasks.front().lists.front().seed;
  const auto tuned = tune(data.inputs(), tasks, options.tune, progress());
  print_tuned(tuned);
  Provenance provenance = provenance_of(command, options.tune.seed);
  data.files.add_to(provenance);
  if (!options.save_fitted.empty()) save_fitted(data, tuned, options, provenance);
  if (options.out.empty()) return;
  nlohmann::json out = tuned_json(tuned);
  out["header"] = make_header(kTunedKind, kTunedVersion, provenance).to_json();
  write_file(options.out, json_text(out, 1) + "\n");
}

void add_tune_command(CLI::App& app) {
  auto options = std::make_shared<TuneArguments>();
  auto files = std::make_shared<EvaluationFiles>();
  CLI::App* command = add_command(
      app, "tune", "Choose parameters of methods on val classes, with the same budget for each",
      "protocom tune --features features.npz --methods tim,pt-map,laplacian-shot --k-shot 1 --out tuned.json\n"
      "protocom evaluate --features features.npz --methods mean --tuned tuned.json --k-shot 1");
  add_data_options(*command, *files);
  add_model_option(*command, *files);
  add_fitted_option(*command, *files,
                    "; a method that needs fitting and has no file is fitted on base classes for every setting");
  add_methods_option(
      *command, options->tune.methods,
      "Methods; parameters that you give are fixed, protocom methods NAME shows which values of the others are tried")
      ->required();
  command->add_option("--budget", options->tune.budget, "Settings to try per method");
  add_draw_options(*command, options->tasks);
  add_output_option(
      *command, "--save-fitted", options->save_fitted,
      "Fit the chosen methods that have no file, including val classes, and write NAME.npz into this folder");
  add_output_option(*command, "--out", options->out, "Write the tried and chosen settings (JSON)");
  command->callback([command, options, files] {
    if (!options->out.empty()) check_writable(options->out);
    run_tune(*command, *options, read_files(*files));
  });
}

const Command kTune{Group::kTraining, 50, &add_tune_command};

}  // namespace
}  // namespace protocom::cli
