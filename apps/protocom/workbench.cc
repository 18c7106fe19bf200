#include "workbench.h"

#include <algorithm>
#include <map>
#include <optional>

#include "cli.h"
#include "image_finder.h"
#include "protocom/core/json.h"
#include "protocom/eval/alignment.h"

namespace protocom::cli {

class Workbench::Impl {
 public:
  explicit Impl(const AnalyseOptions& options)
      : options_(options),
        features_(read_features(options.features, file_options(options))),
        knowledge_(read_knowledge(options.knowledge)),
        model_(read_completion_model(options.model)),
        classes_(align_knowledge(knowledge_, features_.class_names, model_.attributes)),
        images_(options.images),
        episodes_(options.episodes) {
    episodes_.split = parse_split(options.split);
    if (model_.network.options().feature_dim != features_.dim())
      fail("the model completes features of {} dimensions, these have {}", model_.network.options().feature_dim,
           features_.dim());
  }

  AnalysisOutcome run(const std::string& name) {
    static const std::map<std::string, AnalysisOutcome (Impl::*)()> kAnalyses = {
        {"ablation", &Impl::ablation},
        {"cosine", &Impl::cosine},
        {"shots", &Impl::shots},
        {"noise", &Impl::noise},
        {"ways", &Impl::ways},
        {"unlabelled", &Impl::unlabelled},
        {"distribution", &Impl::distribution},
        {"single-images", &Impl::single_images},
        {"nearest", &Impl::nearest},
        {"attention", &Impl::attention},
        {"classes", &Impl::classes},
        {"calibration", &Impl::calibration},
        {"episodes", &Impl::episodes},
        {"failures", &Impl::failures}};
    return (this->*kAnalyses.at(name))();
  }

 private:
  static FeatureFileOptions file_options(const AnalyseOptions& options) {
    FeatureFileOptions result;
    if (!options.class_split.empty()) result.split = options.class_split;
    return result;
  }

  [[nodiscard]] AnalysisInputs inputs() const { return {features_, model_, classes_}; }
  [[nodiscard]] TitleSource titles() const {
    return [this](const std::string& name) { return title_in(knowledge_, name); };
  }
  [[nodiscard]] PictureSource pictures() const {
    return [this](const std::string& id) { return images_.thumbnail(id); };
  }

  TaskScores task(EpisodeShape shape, int64_t count, KeepPredictions predictions) {
    list_ = sample_episodes(features_, episodes_.split, shape, count, episodes_.seed);
    EvaluateOptions evaluation;
    evaluation.predictions = predictions;
    return {shape, evaluate(features_, list_, &model_, &classes_, evaluation, progress())};
  }

  /// The hash of the episodes of each value of a series.
  [[nodiscard]] std::string hashes_of(const std::vector<int64_t>& values, int64_t EpisodeShape::*size) const {
    std::vector<std::string> hashes;
    for (const int64_t value : values) {
      EpisodeShape shape = episodes_.shape;
      shape.*size = value;
      hashes.push_back(
          sample_episodes(features_, episodes_.split, shape, episodes_.count, episodes_.seed).hash(features_));
    }
    return fmt::format("{}", fmt::join(hashes, " "));
  }

  /// The scores of every query, which four analyses need.
  const TaskScores& judged() {
    if (!judged_) {
      judged_ = task(episodes_.shape, episodes_.count, KeepPredictions::kYes);
      judged_list_ = list_;
    }
    return *judged_;
  }

  const MethodScores& judged_by(const std::string& method) {
    const Method wanted = parse_method(method);
    const auto& all = judged().methods;
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.method == wanted; });
  }

  /// What the smallest class of the split leaves for more than the queries.
  [[nodiscard]] int64_t spare_images() const {
    const auto rows = features_.rows_by_class();
    int64_t fewest = features_.size();
    for (const int64_t k : features_.classes_of(episodes_.split))
      fewest = std::min(fewest, static_cast<int64_t>(rows[static_cast<size_t>(k)].size()));
    return fewest - episodes_.shape.n_query;
  }

  /// The numbers that the smallest class allows; says so when it does not allow all.
  [[nodiscard]] std::vector<int64_t> that_fit(std::vector<int64_t> counts, int64_t room, const char* what) const {
    const size_t asked = counts.size();
    counts.erase(std::remove_if(counts.begin(), counts.end(), [room](int64_t count) { return count > room; }),
                 counts.end());
    if (counts.empty()) fail("the smallest class has too few images for any number of {}", what);
    if (counts.size() < asked)
      logger().warn("the smallest class has room for {} {} besides {} queries: larger numbers are left out", room, what,
                    episodes_.shape.n_query);
    return counts;
  }

  AnalysisOutcome ablation() {
    std::vector<TaskScores> tasks;
    nlohmann::json data = nlohmann::json::array();
    for (const int64_t k : options_.shots) {
      EpisodeShape shape = episodes_.shape;
      shape.k_shot = k;
      tasks.push_back(task(shape, episodes_.count, KeepPredictions::kNo));
      for (auto& row : results_json(shape, tasks.back().methods)) data.push_back(std::move(row));
    }
    return {ablation_section(tasks, episodes_), data, hashes_of(options_.shots, &EpisodeShape::k_shot)};
  }

  AnalysisOutcome cosine() {
    AnalysisEpisodes many = episodes_;
    many.count = options_.cosine_episodes;
    const TaskScores scores = task(many.shape, many.count, KeepPredictions::kNo);
    return {cosine_section(scores, many), results_json(many.shape, scores.methods), list_.hash(features_)};
  }

  AnalysisOutcome shots() {
    std::vector<int64_t> counts;
    for (int64_t k = 1; k <= options_.max_shots; ++k) counts.push_back(k);
    counts = that_fit(counts, spare_images(), "shots");
    const auto points = accuracy_by_shots(inputs(), episodes_, counts, progress());
    return {shots_section(points, episodes_), points, hashes_of(counts, &EpisodeShape::k_shot)};
  }

  AnalysisOutcome noise() {
    const auto points = accuracy_by_noise(inputs(), episodes_, options_.noise, progress());
    return {noise_section(points, options_.noise, episodes_), points,
            hashes_of({episodes_.shape.k_shot}, &EpisodeShape::k_shot)};
  }

  AnalysisOutcome ways() {
    const auto available = static_cast<int64_t>(features_.classes_of(episodes_.split).size());
    const auto counts = options_.ways.empty() ? ways_up_to(available) : options_.ways;
    const auto points = accuracy_by_ways(inputs(), episodes_, counts, progress());
    return {ways_section(points, episodes_), points, hashes_of(counts, &EpisodeShape::n_way)};
  }

  AnalysisOutcome unlabelled() {
    const auto counts = that_fit(options_.unlabelled, spare_images() - episodes_.shape.k_shot, "unlabelled images");
    const auto points = accuracy_by_unlabelled(inputs(), episodes_, counts, progress());
    return {unlabelled_section(points, episodes_), points,
            hashes_of({*std::max_element(counts.begin(), counts.end())}, &EpisodeShape::unlabelled)};
  }

  AnalysisOutcome distribution() {
    const auto analysis = analyse_distribution(features_, options_.distribution);
    return {distribution_section(analysis, titles()), analysis};
  }

  AnalysisOutcome single_images() {
    const auto analysis = analyse_single_images(inputs(), episodes_.split, options_.window);
    return {single_images_section(analysis, episodes_.split), analysis};
  }

  AnalysisOutcome nearest() {
    const auto names = options_.classes.empty()
                           ? random_classes(features_, episodes_.split, options_.shown_classes, episodes_.seed)
                           : options_.classes;
    const auto classes = extreme_images(features_, names, options_.neighbours);
    return {nearest_section(classes, titles(), pictures()), classes};
  }

  AnalysisOutcome attention() {
    const auto classes = analyse_attention(inputs(), episodes_.split, knowledge_);
    return {attention_section(classes), classes};
  }

  AnalysisOutcome classes() {
    const auto& predictions = judged_by(options_.method).predictions;
    std::vector<std::string> words;
    for (const std::string& name : features_.class_names) words.push_back(title_in(knowledge_, name));
    auto analysis = analyse_classes(features_, judged_list_, predictions, words);
    analysis.method = options_.method;
    return {classes_section(analysis, episodes_), analysis, judged_list().hash(features_)};
  }

  AnalysisOutcome calibration() {
    std::vector<Calibration> methods;
    for (const MethodScores& scores : judged().methods) {
      methods.push_back(calibrate(scores.predictions, options_.bins));
      methods.back().method = to_string(scores.method);
      methods.back().mode = mode_of(scores.method);
    }
    return {calibration_section(methods, GaussFusionOptions{}.scale, episodes_), methods,
            judged_list().hash(features_)};
  }

  AnalysisOutcome episodes() {
    const auto analysis = analyse_episodes(features_, judged_list(), judged().methods);
    return {episodes_section(analysis, titles(), episodes_), analysis, judged_list().hash(features_)};
  }

  const EpisodeList& judged_list() {
    judged();
    return judged_list_;
  }

  Mistake show(const Prediction& wrong) {
    const Episode& episode = judged_list().episodes[static_cast<size_t>(wrong.episode)];
    const auto support_of = [&](int64_t k) {
      const auto place = std::find(episode.classes.begin(), episode.classes.end(), k) - episode.classes.begin();
      return features_.image_ids[static_cast<size_t>(episode.support[static_cast<size_t>(place)].front())];
    };
    const auto title = [&](int64_t k) { return title_in(knowledge_, features_.class_names[static_cast<size_t>(k)]); };
    return {features_.image_ids[static_cast<size_t>(wrong.row)],
            title(wrong.true_class),
            title(wrong.predicted),
            wrong.probability,
            support_of(wrong.predicted),
            support_of(wrong.true_class)};
  }

  AnalysisOutcome failures() {
    std::vector<Mistake> mistakes;
    for (const Prediction& wrong : surest_mistakes(judged_by(options_.method).predictions, options_.mistakes))
      mistakes.push_back(show(wrong));
    return {failures_section(mistakes, options_.method, episodes_, pictures()), mistakes,
            judged_list().hash(features_)};
  }

  const AnalyseOptions& options_;
  FeatureSet features_;
  Knowledge knowledge_;
  CompletionModel model_;
  ClassKnowledge classes_;
  ImageFinder images_;
  AnalysisEpisodes episodes_;
  EpisodeList list_;
  std::optional<TaskScores> judged_;
  EpisodeList judged_list_;
};

Workbench::Workbench(const AnalyseOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Workbench::~Workbench() = default;

AnalysisOutcome Workbench::run(const std::string& name) { return impl_->run(name); }

AnalysisOutcome compare_results(const AnalyseOptions& options) {
  std::vector<Evaluation> evaluations;
  for (const std::string& path : options.results) {
    evaluations.push_back(parse_evaluation(read_json(path), path));
  }
  const Section section = tables_section(evaluations);
  return {section, section.tables.front()};
}

}  // namespace protocom::cli
