#include "report/workbench.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/log.h"
#include "fewshot/paper/completion_model.h"
#include "report/detail/analyses.h"

namespace protocom {
namespace {

/// Returns the baseline of gains, if there is any: the default may be missing, a requested one may not.
std::string baseline_among(const Methods& methods, const std::string& asked) {
  const std::string found = label_meant(labels_of(methods), asked);
  if (found.empty() && asked != AnalyseOptions().baseline)
    fail_usage("baseline: unknown method '{}': expected one of {}", asked, fmt::join(labels_of(methods), ", "));
  return found.empty() ? asked : found;
}

/// Returns the most accurate method among those that see each query alone, or of all if none does.
std::string best_method(const std::vector<MethodScores>& methods) {
  const auto rank = [](const MethodScores& scores) {
    return std::pair(scores.mode == "inductive", estimate(scores.accuracy).value);
  };
  return std::max_element(methods.begin(), methods.end(),
                          [&](const auto& a, const auto& b) { return rank(a) < rank(b); })
      ->method;
}

std::map<std::string, Analysis> all_analyses() {
  std::map<std::string, Analysis> all;
  for (const auto& some : {series_analyses(), paper_analyses(), image_analyses(), answer_analyses()}) {
    for (const Analysis& analysis : some) all.emplace(analysis.name, analysis);
  }
  return all;
}

const Analysis& analysis_named(const std::string& name) {
  static const std::map<std::string, Analysis> kAnalyses = all_analyses();
  return kAnalyses.at(name);
}

}  // namespace

Workbench::Workbench(const WorkbenchInputs& inputs, const AnalyseOptions& options, Progress& progress)
    : options_(options),
      features_(inputs.data.features),
      knowledge_(inputs.knowledge),
      pictures_(inputs.pictures),
      fitted_(inputs.fitted),
      inputs_{inputs.data,
              make_methods(options.methods.empty() ? default_methods(inputs.data.model, fitted_) : options.methods,
                           fitted_),
              ""},
      progress_(progress) {
  if (options.bins < 1) fail_usage("a reliability curve needs at least 1 bin, found {}", options.bins);
  if (options.window < 1) fail_usage("the moving average needs a window of at least 1, found {}", options.window);
  inputs_.baseline = baseline_among(inputs_.methods, options.baseline);
  check_model();
  choose_analysed();
}

std::string Workbench::obstacle(const std::string& name) const {
  const Analysis& analysis = analysis_named(name);
  return analysis.obstacle == nullptr ? "" : analysis.obstacle(*this);
}

AnalysisOutcome Workbench::analyse(const std::string& name) {
  if (const std::string reason = obstacle(name); !reason.empty()) {
    if (reason.rfind(kTooFew, 0) == 0) fail("'{}' {}", name, reason);
    fail_usage("'{}' {}", name, reason);
  }
  return analysis_named(name).run(*this);
}

void Workbench::check_model() const {
  if (inputs_.data.model == nullptr) return;
  const int64_t dim = inputs_.data.model->sizes.feature_dim;
  if (dim != features_.dim()) fail("the model completes features of {} dimensions, found {}", dim, features_.dim());
}

void Workbench::choose_analysed() {
  if (options_.method.empty()) return;
  analysed_ = label_meant(labels_of(inputs_.methods), options_.method);
  if (!analysed_.empty()) return;
  extra_ = {make_method(options_.method, fitted_)};
  analysed_ = extra_.front()->label();
}

std::string Workbench::title_of(const std::string& class_name) const {
  return knowledge_ == nullptr ? class_name : short_title(*knowledge_, class_name);
}

TitleSource Workbench::titles() const {
  return [this](const std::string& name) { return title_of(name); };
}

Workbench::Run Workbench::run(const EpisodeShape& shape, int64_t count, const ScoringOptions& evaluation) const {
  Run run{sample_episodes(features_, {episodes().split, shape, count, episodes().seed}), {shape, {}}};
  run.scores.methods = evaluate(inputs_.data, run.list, evaluation, progress_);
  return run;
}

Workbench::Run Workbench::run(const EpisodeShape& shape, const Methods& methods) const {
  return run(shape, episodes().count, {methods});
}

const Workbench::Run& Workbench::answers() {
  if (!answers_) {
    ScoringOptions evaluation;
    evaluation.methods = inputs_.methods;
    evaluation.methods.insert(evaluation.methods.end(), extra_.begin(), extra_.end());
    evaluation.predictions = KeepPredictions::kYes;
    answers_ = run(shape(), episodes().count, evaluation);
  }
  return *answers_;
}

const std::vector<Prediction>& Workbench::predictions() {
  return find_scores(answers().scores.methods, analysed())->predictions;
}

const std::string& Workbench::analysed() {
  if (analysed_.empty()) analysed_ = best_method(answers().scores.methods);
  return analysed_;
}

Analysed Workbench::why_analysed() const {
  if (!options_.method.empty()) return Analysed::kNamed;
  return inputs_.methods.size() == 1 ? Analysed::kOnly : Analysed::kMostAccurate;
}

std::string Workbench::hashes_of(const std::vector<EpisodeOptions>& lists) const {
  std::vector<std::string> hashes;
  for (const EpisodeOptions& options : lists) hashes.push_back(sample_episodes(features_, options).hash(features_));
  return fmt::format("{}", fmt::join(hashes, " "));
}

std::string Workbench::hashes_of(const std::vector<EpisodeShape>& shapes) const {
  std::vector<EpisodeOptions> lists;
  for (const EpisodeShape& shape : shapes)
    lists.push_back({episodes().split, shape, episodes().count, episodes().seed});
  return hashes_of(lists);
}

std::string Workbench::hashes_of(const std::vector<int64_t>& values, int64_t EpisodeShape::*size) const {
  std::vector<EpisodeShape> shapes;
  for (const int64_t value : values) {
    shapes.push_back(shape());
    shapes.back().*size = value;
  }
  return hashes_of(shapes);
}

int64_t Workbench::spare_images(Split split) const {
  const auto rows = features_.rows_by_class();
  const auto classes = features_.classes_of(split);
  int64_t fewest = classes.empty() ? 0 : features_.size();
  for (const int64_t k : classes) fewest = std::min(fewest, static_cast<int64_t>(rows[static_cast<size_t>(k)].size()));
  return fewest - shape().n_query;
}

int64_t Workbench::classes_in(Split split) const { return static_cast<int64_t>(features_.classes_of(split).size()); }

std::vector<int64_t> Workbench::that_fit(std::vector<int64_t> counts, int64_t room, const char* what) const {
  const size_t asked = counts.size();
  counts.erase(std::remove_if(counts.begin(), counts.end(), [room](int64_t count) { return count > room; }),
               counts.end());
  if (counts.empty()) fail("the smallest class has too few images for any number of {}", what);
  if (counts.size() < asked)
    logger().warn("the smallest class has room for {} {} besides {} queries: larger numbers are left out", room, what,
                  shape().n_query);
  return counts;
}

}  // namespace protocom
