#include "evaluation_inputs.h"

#include <algorithm>

#include "cli.h"
#include "eval/tune.h"
#include "fewshot/align_knowledge.h"
#include "io/artefact_contents.h"

namespace protocom::cli {
namespace {

template <typename T>
const T* address(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

/// Returns the files of protocom fit: those named, and every npz of named folders, sorted by name.
std::vector<std::string> fitted_files(const std::vector<std::string>& named) {
  std::vector<std::string> files;
  for (const std::string& path : named) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".npz") files.push_back(entry.path().string());
    if (static_cast<std::ptrdiff_t>(files.size()) == first) fail("{}: no fitted method (npz) in this folder", path);
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

void check_dim(const FittedMethod& fitted, const std::string& path, int64_t dim) {
  if (fitted.feature_dim != dim)
    fail("{} was fitted on features of {} dimensions, found {}: extract both with the same encoder", path,
         fitted.feature_dim, dim);
}

}  // namespace

void EvaluationFiles::add_to(Provenance& provenance) const {
  add_input(provenance, "features", features);
  add_input(provenance, "feature-maps", maps);
  add_input(provenance, "knowledge", knowledge);
  add_input(provenance, "model", model);
  add_input(provenance, "class-split", class_split);
  add_input(provenance, "space", space);
  add_input(provenance, "tuned", tuned);
  add_input(provenance, "episodes", episodes);
  for (const auto& path : fitted_files(fitted))
    add_input(provenance, std::filesystem::path(path).filename().string(), path);
}

void add_data_options(CLI::App& command, EvaluationFiles& files) {
  add_input_option(command, "--features", files.features, "Features of all splits (npz, or npy with --class-split)")
      ->required();
  add_input_option(command, "--feature-maps", files.maps,
                   "Feature maps of the same images (protocom extract --maps), for methods that need them");
  add_input_option(command, "--knowledge", files.knowledge, "Knowledge file, for methods that need it");
  add_input_option(
      command, "--class-split", files.class_split,
      "Split to use in place of the features' own (CSV class,split); classes that it does not name are ignored");
}

void add_model_option(CLI::App& command, EvaluationFiles& files) {
  add_input_option(command, "--model", files.model, "Completion model (protocom complete)");
}

void add_fitted_option(CLI::App& command, EvaluationFiles& files, const std::string& why) {
  add_input_option(command, "--fitted", files.fitted, "Files of protocom fit, or folders of them" + why)
      ->delimiter(',');
  add_input_option(command, "--space", files.space,
                   "File of protocom fit on other classes with the same backbone: its space is adapted to these");
}

CLI::Option* add_methods_option(CLI::App& command, std::vector<std::string>& methods, const std::string& help) {
  const auto take = [&methods](const std::vector<std::string>& texts) {
    make_methods(texts);
    methods = texts;
  };
  return command.add_option_function<std::vector<std::string>>("--methods", take, help)->delimiter(',');
}

EvaluateInputs EvaluationData::inputs() const {
  EvaluateInputs read{features, address(model), address(classes), address(knowledge)};
  read.maps = address(maps);
  for (const auto& item : fitted)
    read.trained_on.insert(read.trained_on.end(), item.trained_on.begin(), item.trained_on.end());
  return read;
}

EvaluationData read_files(const EvaluationFiles& files, std::optional<Split> without_split) {
  if (files.knowledge.empty() && !files.model.empty()) fail_usage("--model needs --knowledge to complete prototypes");
  FeatureFileOptions file_options;
  if (!files.class_split.empty()) file_options.split = files.class_split;
  file_options.without_split = without_split;
  EvaluationData data{files, read_features(files.features, file_options)};
  for (const auto& path : fitted_files(files.fitted)) {
    data.fitted.push_back(read_fitted_method(path));
    check_dim(data.fitted.back(), path, data.features.dim());
  }
  if (!files.space.empty()) {
    data.fitted.push_back(read_space(files.space));
    check_dim(data.fitted.back(), files.space, data.features.dim());
  }
  if (!files.maps.empty()) data.maps = read_feature_maps(files.maps);
  if (!files.knowledge.empty()) data.knowledge = read_knowledge(files.knowledge);
  for (const FittedMethod& method : data.fitted)
    data.findings.insert(data.findings.end(), method.findings.begin(), method.findings.end());
  if (!files.episodes.empty()) data.episodes = read_episodes(files.episodes, data.features);
  if (!files.tuned.empty()) data.chosen = read_chosen(files.tuned);
  if (files.model.empty()) return data;
  data.model = read_completion_model(files.model);
  const auto found = findings_in(read_any_header(files.model));
  data.findings.insert(data.findings.end(), found.begin(), found.end());
  data.classes = align_knowledge(*data.knowledge, data.features.class_names, data.model->attributes);
  return data;
}

}  // namespace protocom::cli
