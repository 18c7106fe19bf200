#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>

#include "arrays.h"
#include "base/error.h"
#include "calls.h"
#include "eval/evaluation_tasks.h"
#include "methods.h"

namespace protocom::python {
namespace {

namespace fs = std::filesystem;
using SharedFeatures = std::shared_ptr<const FeatureSet>;

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

/// Of features that may be of any shape, or none.
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

/// Episodes with the features whose rows they are.
struct Episodes {
  SharedFeatures features;
  EpisodeList list;
};

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

nlohmann::json evaluate(const std::vector<Episodes>& lists, const Contestants& given, Progress& progress) {
  const FeatureSet& features = *lists.front().features;
  std::vector<EpisodeList> own;
  for (const Episodes& episodes : lists) own.push_back(episodes.list);
  const Evaluated made = evaluate_lists(features, own, given, progress);
  nlohmann::json findings = findings_json(features, made.tasks, made.pairs, made.records.checks);
  findings["baseline"] = made.comparisons.baseline;
  for (nlohmann::json& row : findings["results"]) row["task"] = describe(shape_from_json(row));
  for (nlohmann::json& row : findings["differences"]) row["task"] = describe(shape_from_json(row));
  return findings;
}

py::dict dict_of(const Episode& episode) {
  py::dict made;
  made["classes"] = episode.classes;
  made["support"] = episode.support;
  made["query"] = episode.query;
  made["pool"] = episode.pool;
  return made;
}

void bind_features(py::module_& module) {
  py::class_<FeatureSet, std::shared_ptr<FeatureSet>>(module, "FeatureSet")
      .def(py::init(&make_features))
      .def_static(
          "read",
          [](const fs::path& path, const std::optional<fs::path>& labels, const std::optional<fs::path>& split) {
            return unlocked([&] { return std::make_shared<FeatureSet>(read_features(path, {labels, split})); });
          })
      .def_property_readonly("features", [](const FeatureSet& own) { return numpy_of(own.features); })
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
  py::class_<Episodes>(module, "Episodes")
      .def_static("read",
                  [](const fs::path& path, const SharedFeatures& features) {
                    return unlocked([&] { return Episodes{features, read_episodes(path, *features)}; });
                  })
      .def("save", [](const Episodes& own,
                      const fs::path& path) { unlocked([&] { write_episodes(path, own.list, *own.features); }); })
      .def("__len__", [](const Episodes& own) { return own.list.episodes.size(); })
      .def("__getitem__",
           [](const Episodes& own, size_t i) {
             if (i >= own.list.episodes.size()) throw py::index_error("there is no such episode");
             return dict_of(own.list.episodes[i]);
           })
      .def_property_readonly("hash", [](const Episodes& own) { return own.list.hash(*own.features); })
      .def_property_readonly("task", [](const Episodes& own) { return describe(own.list.shape); })
      .def_property_readonly("seed", [](const Episodes& own) { return own.list.seed; });
  module.def("draw", &draw);
  module.def("evaluate", [](const std::vector<Episodes>& lists, std::vector<std::string> methods,
                            const std::vector<SharedFitted>& fitted, const SharedKnowledge& knowledge,
                            const SharedModel& model, std::string baseline, py::object callback) {
    if (lists.empty()) fail_usage("there are no episodes to evaluate on");
    const Contestants given{std::move(methods), values_of(fitted), knowledge.get(), model.get(), std::move(baseline)};
    PythonProgress progress(std::move(callback));
    return python_of(unlocked([&] { return evaluate(lists, given, progress); }));
  });
}

}  // namespace protocom::python
