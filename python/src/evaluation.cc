#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>

#include "arrays.h"
#include "base/error.h"
#include "calls.h"
#include "episodes.h"
#include "eval/evaluation_tasks.h"
#include "methods.h"

namespace protocom::python {
namespace {

namespace fs = std::filesystem;

std::vector<Split> splits_of(const std::vector<std::string>& texts) {
  std::vector<Split> splits;
  for (const std::string& text : texts) splits.push_back(parse_split(text));
  return splits;
}

std::vector<std::string> texts_of(const std::vector<Split>& splits) {
  std::vector<std::string> texts;
  for (const Split split : splits) texts.emplace_back(to_string(split));
  return texts;
}

/// Returns the rows of features that may be of any shape, or undefined.
int64_t rows_of(const Array& features) { return features.defined() && features.dim() > 0 ? features.size(0) : 0; }

std::shared_ptr<FeatureSet> make_features(const py::object& features, const py::object& labels,
                                          std::vector<std::string> names, const std::vector<std::string>& split,
                                          std::vector<std::string> ids) {
  FeatureSet set;
  set.features = copy_of(features, "features");
  set.labels = label_numbers(ArrayView(labels, "labels").array(), rows_of(set.features), "features");
  set.class_names = std::move(names);
  set.class_split = splits_of(split);
  set.image_ids = std::move(ids);
  return unlocked([&] { return std::make_shared<FeatureSet>(checked_feature_set(std::move(set), "features")); });
}

EpisodeShape shape_of(const std::map<std::string, int64_t>& sizes, const std::string& distribution, double alpha) {
  EpisodeShape shape;
  shape.n_way = sizes.at("ways");
  shape.n_query = sizes.at("queries");
  shape.unlabelled = sizes.at("unlabelled");
  shape.query_distribution = parse_query_distribution(distribution);
  shape.alpha = alpha;
  return shape;
}

TaskOptions options_of(const py::dict& given) {
  TaskOptions options;
  options.shape = shape_of(given["sizes"].cast<std::map<std::string, int64_t>>(),
                           given["distribution"].cast<std::string>(), given["alpha"].cast<double>());
  options.shots = given["shots"].cast<std::vector<std::string>>();
  options.split = parse_split(given["split"].cast<std::string>());
  options.episodes = given["episodes"].cast<int64_t>();
  options.seeds = given["seeds"].cast<std::vector<uint64_t>>();
  return options;
}

std::vector<Episodes> draw(const SharedFeatures& features, const py::dict& options) {
  const TaskOptions asked = options_of(options);
  return unlocked([&] {
    std::vector<Episodes> drawn;
    for (EvaluationTask& task : draw_tasks(*features, asked)) {
      for (EpisodeList& list : task.lists) drawn.push_back({features, std::move(list)});
    }
    return drawn;
  });
}

/// Scores of the library's methods on lists of episodes, to which scores of methods in Python are added.
class Evaluation {
 public:
  Evaluation(const std::vector<Episodes>& lists, const Contestants& given, Progress& progress)
      : features_(lists.front().features) {
    std::vector<EpisodeList> own;
    for (const Episodes& episodes : lists) own.push_back(episodes.list);
    made_ = evaluate_lists(*features_, own, given, progress);
    find_places(lists);
  }

  /// Returns the labels of the library's methods, in order: some may be left out of tasks without labelled images.
  [[nodiscard]] std::vector<std::string> labels() const {
    std::vector<std::string> most;
    for (const EvaluationTask& task : made_.tasks) {
      std::vector<std::string> own;
      for (const MethodScores& scores : task.scores.front().methods) own.push_back(scores.method);
      if (own.size() > most.size()) most = std::move(own);
    }
    return most;
  }

  /// Adds a method's scores on list `number`: accuracies in percent, and the result of its check.
  void add(size_t number, const std::string& label, const std::string& mode, std::vector<double> accuracy,
           int64_t episodes, int64_t queries, int64_t ties) {
    const auto& [task, seed] = places_.at(number);
    made_.tasks[task].scores[seed].methods.push_back({label, mode, std::move(accuracy), {}});
    ProtocolChecks& checks = made_.records.checks;
    checks.permuted_episodes = std::max(checks.permuted_episodes, episodes);
    checks.permuted_queries += queries;
    checks.ties += ties;
  }

  /// Returns the findings for the methods with these labels, in this order; an empty baseline means the original one.
  [[nodiscard]] nlohmann::json findings(const std::vector<std::string>& labels, const std::string& baseline) const {
    std::vector<EvaluationTask> tasks = made_.tasks;
    for (EvaluationTask& task : tasks) {
      for (SeedScores& seed : task.scores) seed.methods = chosen(seed.methods, labels);
    }
    const Comparisons asked{baseline.empty() ? made_.comparisons.baseline : baseline, {}};
    nlohmann::json found = findings_json(*features_, tasks, pairs_to_compare(labels, asked), made_.records.checks);
    found["baseline"] = asked.baseline;
    describe_source(labels, asked.baseline, found);
    for (nlohmann::json& row : found["results"]) row["task"] = describe(shape_from_json(row));
    for (nlohmann::json& row : found["differences"]) row["task"] = describe(shape_from_json(row));
    return found;
  }

 private:
  /// Adds the header and the data set, as in files of the command line.
  void describe_source(const std::vector<std::string>& labels, const std::string& baseline,
                       nlohmann::json& found) const {
    const EpisodeList& list = made_.tasks.front().lists.front();
    Provenance provenance;
    provenance.command = "evaluate";
    provenance.options = {{"methods", labels}, {"baseline", baseline}};
    provenance.seed = list.seed;
    found["dataset"] = {{"split", to_string(list.split)}, {"classes", features_->classes_of(list.split).size()}};
    if (!features_->content_hash.empty()) {
      provenance.inputs = {{"features", features_->content_hash}};
      found["dataset"]["features_hash"] = features_->content_hash;
    }
    found["header"] = make_header("results", 1, provenance).to_json();
  }

  static std::vector<MethodScores> chosen(const std::vector<MethodScores>& all,
                                          const std::vector<std::string>& labels) {
    std::vector<MethodScores> own;
    for (const std::string& label : labels) {
      if (const MethodScores* found = find_scores(all, label)) own.push_back(*found);
    }
    return own;
  }

  /// Finds where the scores of each list are: its task, and its index among the task's lists.
  void find_places(const std::vector<Episodes>& lists) {
    std::vector<size_t> next(made_.tasks.size(), 0);
    for (const Episodes& episodes : lists) {
      const auto shape = shape_json(episodes.list.shape);
      const auto task = std::find_if(made_.tasks.begin(), made_.tasks.end(),
                                     [&](const EvaluationTask& one) { return shape_json(one.shape) == shape; });
      const auto number = static_cast<size_t>(task - made_.tasks.begin());
      places_.emplace_back(number, next[number]++);
    }
  }

  SharedFeatures features_;
  Evaluated made_;
  std::vector<std::pair<size_t, size_t>> places_;
};

void bind_features(py::module_& module) {
  py::class_<FeatureSet, std::shared_ptr<FeatureSet>>(module, "FeatureSet")
      .def(py::init(&make_features))
      .def_static(
          "read",
          [](const fs::path& path, const std::optional<fs::path>& labels, const std::optional<fs::path>& split) {
            return unlocked([&] { return std::make_shared<FeatureSet>(read_features(path, {labels, split})); });
          })
      .def_property_readonly("features", [](const FeatureSet& own) { return read_only_numpy_of(own.features); })
      .def_property_readonly("labels", [](const FeatureSet& own) { return numpy_of(Array::of(own.labels)); })
      .def_readonly("names", &FeatureSet::class_names)
      .def_readonly("ids", &FeatureSet::image_ids)
      .def_property_readonly("split", [](const FeatureSet& own) { return texts_of(own.class_split); })
      .def("save", [](const FeatureSet& own, const fs::path& path) {
        Provenance provenance;
        provenance.command = "features";
        unlocked([&] { write_features(path, own, provenance); });
      });
}

}  // namespace

void bind_evaluation(py::module_& module) {
  bind_features(module);
  bind_episodes(module);
  module.def("draw", &draw);
  py::class_<Evaluation>(module, "Evaluation")
      .def(py::init([](const std::vector<Episodes>& lists, std::vector<std::string> methods,
                       const std::vector<SharedFitted>& fitted, const SharedKnowledge& knowledge,
                       const SharedModel& model, std::string baseline, py::object callback) {
        if (lists.empty()) fail_usage("there are no episodes to evaluate on");
        const Contestants given{std::move(methods), values_of(fitted), knowledge.get(), model.get(),
                                std::move(baseline)};
        PythonProgress progress(std::move(callback));
        return unlocked([&] { return std::make_unique<Evaluation>(lists, given, progress); });
      }))
      .def("labels", &Evaluation::labels)
      .def("add", &Evaluation::add)
      .def("findings", [](const Evaluation& own, const std::vector<std::string>& labels, const std::string& baseline) {
        return python_of(own.findings(labels, baseline));
      });
}

}  // namespace protocom::python
