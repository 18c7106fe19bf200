#include "protocom/report/workbench.h"

#include <algorithm>
#include <map>
#include <optional>

#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/eval/results.h"
#include "protocom/knowledge/new_class.h"

namespace protocom {
namespace {

/// How an obstacle begins that lies in the data; the others lie in the options.
constexpr const char* kTooFew = "needs more";

bool contains(const std::vector<std::string>& labels, const std::string& label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// What gains are over: one of the methods, if any is meant; the default may be missing, what is asked for may not.
std::string baseline_among(const Methods& methods, const std::string& asked) {
  const std::string found = label_meant(labels_of(methods), asked);
  if (found.empty() && asked != AnalyseOptions().baseline)
    fail_usage("the baseline '{}' is not among the methods ({})", asked, fmt::join(labels_of(methods), ", "));
  return found.empty() ? asked : found;
}

/// Whose answers are analysed unless one is named: the first that was fitted, else the last.
const std::string& analysed_among(const Methods& methods) {
  const auto fitted = std::find_if(methods.begin(), methods.end(),
                                   [](const auto& method) { return method->spec().has(Need::kFitting); });
  return (fitted == methods.end() ? methods.back() : *fitted)->label();
}

/// The numbers of shots that results are of, each once. Throws UsageError where there is none.
template <typename Result>
std::vector<int64_t> told_by(const std::vector<Result>& results) {
  if (results.empty()) fail_usage("no method here answers with so few labelled images");
  std::vector<int64_t> shots;
  for (const Result& one : results) {
    if (shots.empty() || static_cast<double>(shots.back()) != one.shots)
      shots.push_back(static_cast<int64_t>(one.shots));
  }
  return shots;
}

/// 0, 1, 2, 3, 5, 10, 20 and every further double, as far as `most`, which is the last.
std::vector<int64_t> shots_up_to(int64_t most) {
  std::vector<int64_t> shots;
  for (const int64_t k : {0, 1, 2, 3, 5, 10, 20}) {
    if (k < most) shots.push_back(k);
  }
  while (shots.back() >= 20 && 2 * shots.back() < most) shots.push_back(2 * shots.back());
  shots.push_back(most);
  return shots;
}

Methods paper_methods() { return make_methods(paper_rows()); }

}  // namespace

class Workbench::Impl {
 public:
  Impl(const WorkbenchInputs& inputs, const AnalyseOptions& options, Progress& progress)
      : options_(options),
        features_(inputs.data.features),
        knowledge_(inputs.knowledge),
        pictures_(inputs.pictures),
        fitted_(inputs.fitted),
        inputs_{inputs.data,
                make_methods(options.methods.empty() ? default_methods(inputs.data.model, fitted_) : options.methods,
                             fitted_),
                ""},
        episodes_(options.episodes),
        progress_(progress) {
    if (options.bins < 1) fail_usage("a reliability curve needs at least 1 bin, found {}", options.bins);
    if (options.window < 1) fail_usage("the moving average needs a window of at least 1, found {}", options.window);
    inputs_.baseline = baseline_among(inputs_.methods, options.baseline);
    check_model();
    choose_analysed();
  }

  [[nodiscard]] std::string obstacle(const std::string& name) const {
    static const std::map<std::string, std::string (Impl::*)() const> kObstacles = {
        {"ablation", &Impl::lacks_paper_rows},  {"episodes", &Impl::lacks_paper_rows},
        {"attention", &Impl::lacks_model},      {"noise", &Impl::lacks_knowledge},
        {"unseen", &Impl::lacks_other_classes}, {"generalised", &Impl::lacks_base_images},
        {"base-classes", &Impl::lacks_fitted}};
    const auto found = kObstacles.find(name);
    return found == kObstacles.end() ? "" : (this->*found->second)();
  }

  AnalysisOutcome run(const std::string& name) {
    static const std::map<std::string, AnalysisOutcome (Impl::*)()> kAnalyses = {
        {"ablation", &Impl::ablation},
        {"cosine", &Impl::cosine},
        {"shots", &Impl::shots},
        {"noise", &Impl::noise},
        {"ways", &Impl::ways},
        {"queries", &Impl::queries},
        {"imbalance", &Impl::imbalance},
        {"base-classes", &Impl::base_classes},
        {"unlabelled", &Impl::unlabelled},
        {"distribution", &Impl::distribution},
        {"single-images", &Impl::single_images},
        {"nearest", &Impl::nearest},
        {"attention", &Impl::attention},
        {"classes", &Impl::classes},
        {"calibration", &Impl::calibration},
        {"unseen", &Impl::unseen},
        {"generalised", &Impl::generalised},
        {"episodes", &Impl::episodes},
        {"failures", &Impl::failures}};
    if (const std::string reason = obstacle(name); !reason.empty()) {
      if (reason.rfind(kTooFew, 0) == 0) fail("'{}' {}", name, reason);
      fail_usage("'{}' {}", name, reason);
    }
    return (this->*kAnalyses.at(name))();
  }

 private:
  [[nodiscard]] TitleSource titles() const {
    return [this](const std::string& name) { return title_of(name); };
  }
  [[nodiscard]] std::string title_of(const std::string& name) const {
    return knowledge_ == nullptr ? name : title_in(*knowledge_, name);
  }

  void check_model() const {
    if (inputs_.data.model == nullptr) return;
    const int64_t dim = inputs_.data.model->network.options().feature_dim;
    if (dim != features_.dim())
      fail("the model completes features of {} dimensions, these have {}", dim, features_.dim());
  }

  void choose_analysed() {
    if (options_.method.empty()) {
      analysed_ = analysed_among(inputs_.methods);
      return;
    }
    analysed_ = label_meant(labels_of(inputs_.methods), options_.method);
    if (!analysed_.empty()) return;
    extra_ = {make_method(options_.method, fitted_)};
    analysed_ = extra_.front()->label();
  }

  [[nodiscard]] std::string lacks_model() const {
    return inputs_.data.model == nullptr ? "needs a completion model: --model" : "";
  }
  [[nodiscard]] std::string lacks_knowledge() const {
    return inputs_.data.knowledge == nullptr ? "needs knowledge: --knowledge" : "";
  }
  [[nodiscard]] std::string lacks_paper_rows() const {
    if (std::string reason = lacks_model(); !reason.empty()) return reason;
    const auto labels = labels_of(inputs_.methods);
    const auto rows = paper_rows();
    const bool all = std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return contains(labels, row); });
    return all ? "" : fmt::format("is about {}: name all of them", fmt::join(rows, ", "));
  }
  [[nodiscard]] std::string lacks_other_classes() const {
    return other_classes() > 0 ? "" : fmt::format("{} classes than an episode has", kTooFew);
  }
  [[nodiscard]] std::string lacks_base_images() const {
    return spare_images(Split::kBase) > 0 ? "" : fmt::format("{} images of base classes", kTooFew);
  }
  [[nodiscard]] std::string lacks_fitted() const {
    if (fitted_.empty()) return "needs methods that are fitted: --fitted";
    return base_classes_up_to(static_cast<int64_t>(features_.classes_of(Split::kBase).size())).size() > 1
               ? ""
               : fmt::format("{} base classes", kTooFew);
  }

  /// Those whose answers to single queries are kept: the ones asked for and the one analysed.
  [[nodiscard]] Methods query_methods() const {
    Methods methods = inputs_.methods;
    methods.insert(methods.end(), extra_.begin(), extra_.end());
    return methods;
  }

  struct TaskRequest {
    EpisodeShape shape;
    int64_t count = 0;
    Methods methods;
    KeepPredictions predictions = KeepPredictions::kNo;
  };

  TaskScores task(const TaskRequest& request) {
    list_ = sample_episodes(features_, {episodes_.split, request.shape, request.count, episodes_.seed});
    EvaluateOptions evaluation;
    evaluation.methods = request.methods;
    evaluation.predictions = request.predictions;
    return {request.shape, evaluate(inputs_.data, list_, evaluation, progress_)};
  }

  /// The hashes of lists of episodes, one behind the other.
  [[nodiscard]] std::string hashes_of(const std::vector<EpisodeOptions>& lists) const {
    std::vector<std::string> hashes;
    for (const EpisodeOptions& one : lists) hashes.push_back(sample_episodes(features_, one).hash(features_));
    return fmt::format("{}", fmt::join(hashes, " "));
  }

  /// The same of shapes of the episodes asked for.
  [[nodiscard]] std::string hashes_of(const std::vector<EpisodeShape>& shapes) const {
    std::vector<EpisodeOptions> lists;
    for (const EpisodeShape& shape : shapes) lists.push_back({episodes_.split, shape, episodes_.count, episodes_.seed});
    return hashes_of(lists);
  }

  /// The same for each value of a series.
  [[nodiscard]] std::string hashes_of(const std::vector<int64_t>& values, int64_t EpisodeShape::*size) const {
    std::vector<EpisodeShape> shapes;
    for (const int64_t value : values) {
      shapes.push_back(episodes_.shape);
      shapes.back().*size = value;
    }
    return hashes_of(shapes);
  }

  /// The scores of every query, which four analyses need.
  const TaskScores& query_scores() {
    if (!query_scores_) {
      query_scores_ = task({episodes_.shape, episodes_.count, query_methods(), KeepPredictions::kYes});
      query_list_ = list_;
    }
    return *query_scores_;
  }

  const std::vector<Prediction>& query_predictions() {
    return find_scores(query_scores().methods, analysed_)->predictions;
  }

  /// What the smallest class of the split leaves for more than the queries.
  [[nodiscard]] int64_t spare_images() const { return spare_images(episodes_.split); }
  [[nodiscard]] int64_t spare_images(Split split) const {
    const auto rows = features_.rows_by_class();
    const auto classes = features_.classes_of(split);
    int64_t fewest = classes.empty() ? 0 : features_.size();
    for (const int64_t k : classes)
      fewest = std::min(fewest, static_cast<int64_t>(rows[static_cast<size_t>(k)].size()));
    return fewest - episodes_.shape.n_query;
  }

  /// Classes of the split beyond those of an episode.
  [[nodiscard]] int64_t other_classes() const {
    return static_cast<int64_t>(features_.classes_of(episodes_.split).size()) - episodes_.shape.n_way;
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
      tasks.push_back(task({shape, episodes_.count, paper_methods()}));
      for (auto& row : results_json(shape, tasks.back().methods)) data.push_back(std::move(row));
    }
    return {ablation_section(tasks, episodes_), data, hashes_of(options_.shots, &EpisodeShape::k_shot)};
  }

  AnalysisOutcome cosine() {
    EpisodeOptions many = episodes_;
    many.count = options_.cosine_episodes;
    const TaskScores scores = task({many.shape, many.count, inputs_.methods});
    return {cosine_section(scores, many), results_json(many.shape, scores.methods), list_.hash(features_)};
  }

  AnalysisOutcome shots() {
    auto counts = that_fit(shots_up_to(options_.max_shots), spare_images(), "shots");
    const int64_t most = std::min(options_.max_shots, spare_images());
    if (counts.back() < most) counts.push_back(most);
    if (!needs_no_images()) counts.erase(std::remove(counts.begin(), counts.end(), 0), counts.end());
    const auto points = accuracy_by_shots(inputs_, episodes_, counts, progress_);
    return {shots_section(points, episodes_), points, hashes_of(counts, &EpisodeShape::k_shot)};
  }

  AnalysisOutcome noise() {
    NoiseOptions noise = options_.noise;
    if (knowledge_ != nullptr)
      noise.embedding_change = [this](const at::Tensor& change) { return embedding_change(*knowledge_, change); };
    const auto points = accuracy_by_noise(inputs_, episodes_, noise, progress_);
    return {noise_section(points, options_.noise, episodes_), points,
            hashes_of({episodes_.shape.k_shot}, &EpisodeShape::k_shot)};
  }

  AnalysisOutcome ways() {
    const auto available = static_cast<int64_t>(features_.classes_of(episodes_.split).size());
    const auto counts = options_.ways.empty() ? ways_up_to(available) : options_.ways;
    const auto points = accuracy_by_ways(inputs_, episodes_, counts, progress_);
    return {ways_section(points, episodes_), points, hashes_of(counts, &EpisodeShape::n_way)};
  }

  [[nodiscard]] bool needs_no_images() const {
    return std::any_of(inputs_.methods.begin(), inputs_.methods.end(),
                       [](const auto& method) { return method->spec().fewest_shots == 0; });
  }

  AnalysisOutcome queries() {
    const auto room = spare_images() + episodes_.shape.n_query - episodes_.shape.k_shot;
    const auto counts = that_fit(options_.queries, room, "queries");
    const auto points = accuracy_by_queries(inputs_, episodes_, counts, progress_);
    std::vector<std::string> hashes;
    for (const int64_t count : counts)
      hashes.push_back(episodes_with_queries(features_, episodes_, count).hash(features_));
    return {queries_section(points, episodes_), points, fmt::format("{}", fmt::join(hashes, " "))};
  }

  AnalysisOutcome imbalance() {
    const auto points = accuracy_by_imbalance(inputs_, episodes_, options_.alphas, progress_);
    return {imbalance_section(points, episodes_), points,
            hashes_of(imbalanced_shapes(episodes_.shape, options_.alphas))};
  }

  AnalysisOutcome base_classes() {
    const auto available = static_cast<int64_t>(features_.classes_of(Split::kBase).size());
    const auto counts = options_.base_classes.empty() ? base_classes_up_to(available) : options_.base_classes;
    const auto points = accuracy_by_base_classes(inputs_, {fitted_, episodes_, counts}, progress_);
    return {base_classes_section(points, episodes_), points,
            hashes_of({episodes_.shape.k_shot}, &EpisodeShape::k_shot)};
  }

  AnalysisOutcome unlabelled() {
    const auto counts = that_fit(options_.unlabelled, spare_images() - episodes_.shape.k_shot, "unlabelled images");
    const auto points = accuracy_by_unlabelled(inputs_, episodes_, counts, progress_);
    return {unlabelled_section(points, episodes_), points,
            hashes_of({*std::max_element(counts.begin(), counts.end())}, &EpisodeShape::unlabelled)};
  }

  AnalysisOutcome distribution() {
    const auto analysis = analyse_distribution(features_, options_.distribution);
    return {distribution_section(analysis, titles()), analysis};
  }

  AnalysisOutcome single_images() {
    const auto analysis = analyse_single_images(inputs_, episodes_.split, options_.window);
    return {single_images_section(analysis, episodes_.split), analysis};
  }

  AnalysisOutcome nearest() {
    const auto names = options_.classes.empty()
                           ? random_classes(features_, episodes_.split, options_.shown_classes, episodes_.seed)
                           : options_.classes;
    const auto classes = extreme_images(features_, names, options_.neighbours);
    return {nearest_section(classes, titles(), pictures_), classes};
  }

  AnalysisOutcome attention() {
    const auto classes = analyse_attention(inputs_, episodes_.split, *knowledge_);
    return {attention_section(classes), classes};
  }

  AnalysisOutcome classes() {
    const auto& predictions = query_predictions();
    std::vector<std::string> words;
    for (const std::string& name : features_.class_names) words.push_back(title_of(name));
    auto analysis = analyse_classes(features_, query_list_, predictions, words);
    analysis.method = analysed_;
    return {classes_section(analysis, episodes_), analysis, query_list().hash(features_)};
  }

  AnalysisOutcome calibration() {
    std::vector<ReliabilityCurve> methods;
    for (const MethodScores& scores : query_scores().methods) {
      methods.push_back(reliability_curve(scores.predictions, options_.bins));
      methods.back().method = scores.method;
      methods.back().mode = scores.mode;
    }
    return {calibration_section(methods, episodes_), methods, query_list().hash(features_)};
  }

  AnalysisOutcome unseen() {
    const OpenSetOptions tasks{episodes_, options_.few_shots, std::min(options_.others, other_classes())};
    const auto results = analyse_open_set(inputs_.data, inputs_.methods, tasks, progress_);
    const auto told = told_by(results);
    std::vector<EpisodeOptions> lists;
    for (const int64_t shots : told) lists.push_back(with_others(tasks, shots));
    return {open_set_section(results, tasks), results, hashes_of(lists)};
  }

  AnalysisOutcome generalised() {
    const GeneralisedOptions tasks{episodes_, options_.few_shots,
                                   std::min(options_.base_shots, spare_images(Split::kBase))};
    const auto results = analyse_generalised(inputs_.data, inputs_.methods, tasks, progress_);
    const auto told = told_by(results);
    return {generalised_section(results, tasks), results, hashes_of(told, &EpisodeShape::k_shot)};
  }

  AnalysisOutcome episodes() {
    const TaskScores scores = task({episodes_.shape, episodes_.count, paper_methods()});
    const auto analysis = analyse_episodes(features_, list_, scores.methods);
    return {episodes_section(analysis, titles(), episodes_), analysis, list_.hash(features_)};
  }

  const EpisodeList& query_list() {
    query_scores();
    return query_list_;
  }

  Mistake show(const Prediction& wrong) {
    const Episode& episode = query_list().episodes[static_cast<size_t>(wrong.episode)];
    const auto support_of = [&](int64_t k) {
      const auto place = std::find(episode.classes.begin(), episode.classes.end(), k) - episode.classes.begin();
      return features_.image_ids[static_cast<size_t>(episode.support[static_cast<size_t>(place)].front())];
    };
    const auto title = [&](int64_t k) { return title_of(features_.class_names[static_cast<size_t>(k)]); };
    return {features_.image_ids[static_cast<size_t>(wrong.row)],
            title(wrong.true_class),
            title(wrong.predicted),
            wrong.probability,
            support_of(wrong.predicted),
            support_of(wrong.true_class)};
  }

  AnalysisOutcome failures() {
    std::vector<Mistake> mistakes;
    for (const Prediction& wrong : surest_mistakes(query_predictions(), options_.mistakes))
      mistakes.push_back(show(wrong));
    return {failures_section(mistakes, analysed_, episodes_, pictures_), mistakes, query_list().hash(features_)};
  }

  const AnalyseOptions& options_;
  const FeatureSet& features_;
  const Knowledge* knowledge_;
  PictureSource pictures_;
  std::vector<FittedMethod> fitted_;
  AnalysisInputs inputs_;
  Methods extra_;  // the one analysed, if it is not among the others
  std::string analysed_;
  EpisodeOptions episodes_;
  Progress& progress_;
  EpisodeList list_;
  std::optional<TaskScores> query_scores_;
  EpisodeList query_list_;
};

Workbench::Workbench(const WorkbenchInputs& inputs, const AnalyseOptions& options, Progress& progress)
    : impl_(std::make_unique<Impl>(inputs, options, progress)) {}
Workbench::~Workbench() = default;

std::string Workbench::obstacle(const std::string& name) const { return impl_->obstacle(name); }

AnalysisOutcome Workbench::run(const std::string& name) { return impl_->run(name); }

}  // namespace protocom
