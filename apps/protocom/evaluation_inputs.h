#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "eval/evaluate.h"
#include "fewshot/fitted_method.h"
#include "fewshot/paper/completion_model.h"
#include "knowledge/knowledge.h"

namespace protocom::cli {

/// The files that evaluations and analyses read, as named by options; empty: not given.
struct EvaluationFiles {
  std::string features, maps, knowledge, model, class_split, space, tuned, episodes;
  std::vector<std::string> fitted;  ///< files, or folders of them

  /// Adds a hash of each to the inputs of `provenance`.
  void add_to(Provenance& provenance) const;
};

/// Adds --features, --feature-maps, --knowledge and --class-split.
void add_data_options(CLI::App& command, EvaluationFiles& files);

/// Adds --model.
void add_model_option(CLI::App& command, EvaluationFiles& files);

/// Adds --fitted; `why` ends the sentence of its help.
void add_fitted_option(CLI::App& command, EvaluationFiles& files,
                       const std::string& why = ", for methods that need fitting");

/// Adds --methods, which fails for a wrong name before files are read.
CLI::Option* add_methods_option(CLI::App& command, std::vector<std::string>& methods, const std::string& help);

/// The content of these files.
struct EvaluationData {
  EvaluationFiles files;
  FeatureSet features;
  std::vector<FittedMethod> fitted = {};
  std::optional<FeatureMaps> maps = {};
  std::optional<Knowledge> knowledge = {};
  std::optional<CompletionModel> model = {};
  std::optional<KnowledgeTable> classes = {};
  std::optional<EpisodeList> episodes = {};
  std::vector<std::string> chosen = {};    ///< methods with the parameters chosen by protocom tune
  std::vector<std::string> findings = {};  ///< findings of fit and complete, from the headers of those files

  /// The result refers to this object, which must outlive it.
  [[nodiscard]] EvaluateInputs inputs() const;
};

/// Reads the files. `without_split`: the split of all classes if nothing states it; nothing: that is an Error. Throws
/// Error if a file cannot be read or files do not match one another, UsageError for a model without knowledge.
EvaluationData read_files(const EvaluationFiles& files, std::optional<Split> without_split = {});

}  // namespace protocom::cli
