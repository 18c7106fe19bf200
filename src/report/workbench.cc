#include "protocom/report/workbench.h"

#include <algorithm>
#include <map>
#include <optional>

#include "protocom/core/error.h"
#include "protocom/core/log.h"
#include "protocom/eval/results.h"

namespace protocom {
namespace {

/// How an obstacle begins that lies in the data; the others lie in the options.
constexpr const char* kTooFew = "needs more";

bool contains(const std::vector<std::string>& labels, const std::string& label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The method of a list that a text means: by its label, or by the name alone where it was fitted.
std::shared_ptr<const Method> find(const Methods& methods, const std::string& name, const std::string& text) {
  for (const auto& method : methods) {
    const bool fitted = method->spec().has(Need::kFitting) && method->spec().name == name;
    if (fitted || method->label() == make_method(text)->label()) return method;
  }
  return nullptr;
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
                make_method(options.baseline)->label()},
        episodes_(options.episodes),
        progress_(progress) {
    if (options.bins < 1) fail_usage("a reliability curve needs at least 1 bin, found {}", options.bins);
    if (options.window < 1) fail_usage("the moving average needs a window of at least 1, found {}", options.window);
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
      analysed_ = inputs_.methods.back()->label();
      return;
    }
    const auto found = find(inputs_.methods, make_method(options_.method)->spec().name, options_.method);
    if (found == nullptr) extra_ = make_methods({options_.method});
    analysed_ = found == nullptr ? extra_.front()->label() : found->label();
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

  /// The hash of the episodes of each value of a series.
  [[nodiscard]] std::string hashes_of(const std::vector<int64_t>& values, int64_t EpisodeShape::*size) const {
    std::vector<std::string> hashes;
    for (const int64_t value : values) {
      EpisodeShape shape = episodes_.shape;
      shape.*size = value;
      hashes.push_back(
          sample_episodes(features_, {episodes_.split, shape, episodes_.count, episodes_.seed}).hash(features_));
    }
    return fmt::format("{}", fmt::join(hashes, " "));
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
    std::vector<int64_t> counts;
    for (int64_t k = needs_no_images() ? 0 : 1; k <= options_.max_shots; ++k) counts.push_back(k);
    counts = that_fit(counts, spare_images(), "shots");
    const auto points = accuracy_by_shots(inputs_, episodes_, counts, progress_);
    return {shots_section(points, episodes_), points, hashes_of(counts, &EpisodeShape::k_shot)};
  }

  AnalysisOutcome noise() {
    const auto points = accuracy_by_noise(inputs_, episodes_, options_.noise, progress_);
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
    return {queries_section(points, episodes_), points, hashes_of(counts, &EpisodeShape::n_query)};
  }

  AnalysisOutcome imbalance() {
    const auto points = accuracy_by_imbalance(inputs_, episodes_, options_.alphas, progress_);
    return {imbalance_section(points, episodes_), points, hashes_of({episodes_.shape.k_shot}, &EpisodeShape::k_shot)};
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
    return {open_set_section(results, tasks), results};
  }

  AnalysisOutcome generalised() {
    const GeneralisedOptions tasks{episodes_, options_.few_shots,
                                   std::min(options_.base_shots, spare_images(Split::kBase))};
    const auto results = analyse_generalised(inputs_.data, inputs_.methods, tasks, progress_);
    return {generalised_section(results, tasks), results};
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
