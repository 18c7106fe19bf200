#include "episodes.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "arrays.h"
#include "base/error.h"
#include "calls.h"
#include "eval/checks.h"
#include "eval/results_json.h"

namespace protocom::python {
namespace {

namespace fs = std::filesystem;
using Groups = std::vector<std::vector<int64_t>>;

/// Concatenated numbers of groups, and where each episode's begin: int64 [all], [episodes + 1].
struct Flat {
  std::vector<int64_t> values, starts = {0};
  void end_episode() { starts.push_back(static_cast<int64_t>(values.size())); }
  [[nodiscard]] py::tuple arrays() const {
    return py::make_tuple(numpy_of(Array::of(values)), numpy_of(Array::of(starts)));
  }
};

/// Appends an episode's rows, class by class, and the class number of each.
void append(const std::vector<std::vector<int64_t>>& groups, Flat& rows, Flat& labels) {
  for (size_t k = 0; k < groups.size(); ++k) {
    rows.values.insert(rows.values.end(), groups[k].begin(), groups[k].end());
    labels.values.insert(labels.values.end(), groups[k].size(), static_cast<int64_t>(k));
  }
  rows.end_episode();
  labels.end_episode();
}

/// Returns supports, their labels, queries, their labels.
py::tuple flat_rows(const Episodes& episodes) {
  Flat support, labels, query, truth;
  for (const Episode& episode : episodes.list.episodes) {
    append(episode.support, support, labels);
    append(episode.query, query, truth);
  }
  return py::make_tuple(support.arrays(), labels.arrays(), query.arrays(), truth.arrays());
}

py::object ways_of(const Episodes& episodes) {
  std::vector<int64_t> ways;
  for (const Episode& episode : episodes.list.episodes) ways.push_back(static_cast<int64_t>(episode.classes.size()));
  return numpy_of(Array::of(ways));
}

py::dict dict_of(const Episode& episode) {
  py::dict made;
  made["classes"] = episode.classes;
  made["support"] = episode.support;
  made["query"] = episode.query;
  made["pool"] = episode.pool;
  return made;
}

Episodes chosen(const Episodes& episodes, const std::vector<size_t>& numbers) {
  Episodes made{episodes.features, episodes.list};
  made.list.episodes.clear();
  for (const size_t i : numbers) made.list.episodes.push_back(episodes.list.episodes.at(i));
  return made;
}

/// Returns what describes a list without its episodes, under the names of its JSON.
py::dict episode_header(const Episodes& episodes) {
  const EpisodeShape& shape = episodes.list.shape;
  py::dict head;
  head["n_way"] = shape.n_way;
  head["k_shot"] = shape.k_shot;
  head["n_query"] = shape.n_query;
  head["split"] = std::string(to_string(episodes.list.split));
  head["seed"] = episodes.list.seed;
  if (shape.ragged()) head["most_shots"] = shape.most_shots;
  if (shape.unlabelled > 0) head["unlabelled"] = shape.unlabelled;
  if (shape.query_distribution == QueryDistribution::kDirichlet) {
    head["query_distribution"] = std::string(to_string(shape.query_distribution));
    head["alpha"] = shape.alpha;
  }
  return head;
}

template <typename T>
T value_or(const py::dict& head, const char* name, const T& otherwise) {
  return head.contains(name) ? head[name].cast<T>() : otherwise;
}

EpisodeList read_list(const py::dict& head) {
  EpisodeList list;
  list.shape.n_way = head["n_way"].cast<int64_t>();
  list.shape.k_shot = head["k_shot"].cast<int64_t>();
  list.shape.n_query = head["n_query"].cast<int64_t>();
  list.shape.most_shots = value_or<int64_t>(head, "most_shots", 0);
  list.shape.unlabelled = value_or<int64_t>(head, "unlabelled", 0);
  list.shape.query_distribution =
      parse_query_distribution(value_or<std::string>(head, "query_distribution", "balanced"));
  list.shape.alpha = value_or(head, "alpha", list.shape.alpha);
  list.split = parse_split(head["split"].cast<std::string>());
  list.seed = value_or<uint64_t>(head, "seed", 0);
  return list;
}

/// Returns int64 [e, n, most], -1 if a group has fewer.
py::object padded(const std::vector<Episode>& episodes, const Groups Episode::*part) {
  int64_t most = 0, n = 0;
  for (const Episode& episode : episodes) {
    n = std::max(n, static_cast<int64_t>(episode.classes.size()));
    for (const auto& rows : episode.*part) most = std::max(most, static_cast<int64_t>(rows.size()));
  }
  const auto count = static_cast<int64_t>(episodes.size());
  std::vector<int64_t> all(static_cast<size_t>(count * n * most), -1);
  for (int64_t i = 0; i < count; ++i) {
    const Groups& groups = episodes[static_cast<size_t>(i)].*part;
    for (size_t k = 0; k < groups.size(); ++k)
      std::copy(groups[k].begin(), groups[k].end(), all.begin() + (i * n + static_cast<int64_t>(k)) * most);
  }
  return numpy_of(Array::of(all).reshaped({count, n, most}));
}

/// Returns "classes" [e, n], "support", "query" and "pool" [e, n, most].
py::dict arrays_of(const Episodes& episodes) {
  const std::vector<Episode>& all = episodes.list.episodes;
  std::vector<int64_t> classes;
  for (const Episode& episode : all) classes.insert(classes.end(), episode.classes.begin(), episode.classes.end());
  py::dict made;
  made["classes"] =
      numpy_of(Array::of(classes).reshaped({static_cast<int64_t>(all.size()), episodes.list.shape.n_way}));
  made["support"] = padded(all, &Episode::support);
  made["query"] = padded(all, &Episode::query);
  made["pool"] = padded(all, &Episode::pool);
  return made;
}

/// Returns row `i` of [e, n, most] as groups, without negative numbers.
Groups groups_of(const Array& array, int64_t i) {
  const int64_t n = array.size(1), most = array.size(2);
  const int64_t* row = array.data<int64_t>() + i * n * most;
  Groups groups(static_cast<size_t>(n));
  for (auto& group : groups) {
    std::copy_if(row, row + most, std::back_inserter(group), [](int64_t number) { return number >= 0; });
    row += most;
  }
  return groups;
}

void expect_sizes(const Groups& groups, int64_t low, int64_t high, const char* what, int64_t number) {
  for (const auto& rows : groups) {
    const auto found = static_cast<int64_t>(rows.size());
    if (found < low || found > high)
      fail("episode {} has {} {} of a class, expected {}", number, found, what,
           low == high ? std::to_string(low) : fmt::format("{} to {}", low, high));
  }
}

/// Throws Error unless an episode has the shape.
void expect_shape(const Episode& episode, const EpisodeShape& shape, int64_t number) {
  expect_sizes(episode.support, shape.k_shot, std::max(shape.k_shot, shape.most_shots), "supports", number);
  const bool balanced = shape.query_distribution == QueryDistribution::kBalanced;
  const int64_t all = shape.n_way * shape.n_query;
  expect_sizes(episode.query, balanced ? shape.n_query : 0, balanced ? shape.n_query : all, "queries", number);
  int64_t total = 0;
  for (const auto& rows : episode.query) total += static_cast<int64_t>(rows.size());
  if (total != all) fail("episode {} has {} queries, expected {}", number, total, all);
  if (shape.unlabelled > 0) expect_sizes(episode.pool, shape.unlabelled, shape.unlabelled, "unlabelled images", number);
}

EpisodeList with_episodes(EpisodeList list, const Array& classes, const Array& support, const Array& query,
                          const Array& pool) {
  const int64_t n = list.shape.n_way;
  const auto count = classes.dim() == 2 ? classes.size(0) : 0;
  std::vector<const Array*> given{&classes, &support, &query};
  if (list.shape.unlabelled > 0) given.push_back(&pool);
  for (const Array* one : given) {
    if (one->type() != NumberType::kInt64 || one->dim() != (one == &classes ? 2 : 3) || one->size(0) != count ||
        one->size(1) != n)
      fail("episodes must be whole numbers: classes [e, {}], support [e, {}, k] and query [e, {}, q]", n, n, n);
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* own = classes.data<int64_t>() + i * n;
    Episode episode{{own, own + n}, groups_of(support, i), groups_of(query, i), {}};
    if (list.shape.unlabelled > 0) episode.pool = groups_of(pool, i);
    expect_shape(episode, list.shape, i);
    list.episodes.push_back(std::move(episode));
  }
  if (list.episodes.empty()) fail("there are no episodes");
  return list;
}

/// Returns episodes from the results of arrays_of() and episode_header(). Throws Error if they are not episodes of
/// these features.
Episodes episodes_of(const SharedFeatures& features, const py::dict& head, const py::dict& arrays) {
  const EpisodeList list = read_list(head);
  const ArrayView classes(arrays["classes"], "classes"), support(arrays["support"], "support"),
      query(arrays["query"], "query"), pool(arrays["pool"], "pool");
  return unlocked([&] {
    Episodes made{features, with_episodes(list, classes.array(), support.array(), query.array(), pool.array())};
    check_episodes(*features, made.list);
    return made;
  });
}

}  // namespace

void bind_episodes(py::module_& module) {
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
             if (i >= own.list.episodes.size()) throw py::index_error("episode index out of range");
             return dict_of(own.list.episodes[i]);
           })
      .def_property_readonly("hash", [](const Episodes& own) { return own.list.hash(*own.features); })
      .def_property_readonly("task", [](const Episodes& own) { return describe(own.list.shape); })
      .def_property_readonly("seed", [](const Episodes& own) { return own.list.seed; })
      .def_property_readonly("fewest_shots", [](const Episodes& own) { return own.list.shape.k_shot; })
      .def("rows", &flat_rows)
      .def("ways", &ways_of)
      .def("chosen", &chosen)
      .def("head", &episode_header)
      .def("arrays", &arrays_of)
      .def_static("of", &episodes_of);
}

}  // namespace protocom::python
