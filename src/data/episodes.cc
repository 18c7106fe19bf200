#include "protocom/data/episodes.h"

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/rng.h"

namespace protocom {
namespace {

using nlohmann::json;
using Groups = std::vector<std::vector<int64_t>>;

void check_shape(const EpisodeShape& shape) {
  if (shape.n_way < 2) fail_usage("n-way must be at least 2, found {}", shape.n_way);
  if (shape.k_shot < 1) fail_usage("k-shot must be at least 1, found {}", shape.k_shot);
  if (shape.n_query < 1) fail_usage("the number of queries a class must be at least 1, found {}", shape.n_query);
}

Episode draw(const std::vector<int64_t>& classes, const Groups& rows_by_class, const EpisodeShape& shape, Rng rng) {
  Episode episode;
  for (const int64_t pick : rng.sample(static_cast<int64_t>(classes.size()), shape.n_way)) {
    const int64_t label = classes[static_cast<size_t>(pick)];
    const auto& rows = rows_by_class[static_cast<size_t>(label)];
    const auto picks = rng.sample(static_cast<int64_t>(rows.size()), shape.k_shot + shape.n_query);
    std::vector<int64_t> drawn;
    for (const int64_t i : picks) drawn.push_back(rows[static_cast<size_t>(i)]);
    episode.classes.push_back(label);
    episode.support.emplace_back(drawn.begin(), drawn.begin() + shape.k_shot);
    episode.query.emplace_back(drawn.begin() + shape.k_shot, drawn.end());
  }
  return episode;
}

json ids_of(const Groups& groups, const FeatureSet& features) {
  json out = json::array();
  for (const auto& rows : groups) {
    json ids = json::array();
    for (const int64_t row : rows) ids.push_back(features.image_ids[static_cast<size_t>(row)]);
    out.push_back(std::move(ids));
  }
  return out;
}

json to_json(const EpisodeList& list, const FeatureSet& features) {
  json episodes = json::array();
  for (const Episode& episode : list.episodes) {
    json names = json::array();
    for (const int64_t label : episode.classes) names.push_back(features.class_names[static_cast<size_t>(label)]);
    episodes.push_back({{"classes", std::move(names)},
                        {"support", ids_of(episode.support, features)},
                        {"query", ids_of(episode.query, features)}});
  }
  return {{"n_way", list.shape.n_way},      {"k_shot", list.shape.k_shot}, {"n_query", list.shape.n_query},
          {"split", to_string(list.split)}, {"seed", list.seed},           {"episodes", std::move(episodes)}};
}

/// The one text for a list, whose keys are sorted. Throws Error when a name is not UTF-8, which JSON cannot hold.
std::string canonical_text(const EpisodeList& list, const FeatureSet& features) {
  try {
    return to_json(list, features).dump();
  } catch (const json::exception& error) {
    fail("these episodes cannot be written as JSON, for which class names and image ids must be UTF-8: {}",
         error.what());
  }
}

/// Resolves names and ids of an episode file, with messages that say which episode is wrong.
class EpisodeParser {
 public:
  EpisodeParser(std::string where, const FeatureSet& features, const EpisodeShape& shape, Split split)
      : where_(std::move(where)), features_(features), shape_(shape), split_(split) {
    for (size_t i = 0; i < features.class_names.size(); ++i)
      class_index_[features.class_names[i]] = static_cast<int64_t>(i);
    for (size_t i = 0; i < features.image_ids.size(); ++i) row_index_[features.image_ids[i]] = static_cast<int64_t>(i);
  }

  Episode parse(const json& entry, size_t number) {
    at_ = fmt::format("{}: episode {}", where_, number);
    used_.clear();
    Episode episode;
    for (const auto& name : entry.at("classes")) episode.classes.push_back(label_of(name.get<std::string>()));
    if (static_cast<int64_t>(episode.classes.size()) != shape_.n_way) {
      fail("{} has {} classes, n_way is {}", at_, episode.classes.size(), shape_.n_way);
    }
    if (std::unordered_set<int64_t>(episode.classes.begin(), episode.classes.end()).size() != episode.classes.size()) {
      fail("{} names a class twice", at_);
    }
    episode.support = rows_of(entry.at("support"), episode.classes, shape_.k_shot);
    episode.query = rows_of(entry.at("query"), episode.classes, shape_.n_query);
    return episode;
  }

 private:
  int64_t label_of(const std::string& name) const {
    const auto found = class_index_.find(name);
    if (found == class_index_.end()) fail("{} names the class '{}', which the features do not have", at_, name);
    const Split split = features_.class_split[static_cast<size_t>(found->second)];
    if (split != split_) {
      fail("{} names the class '{}', which is in the split '{}', not '{}'", at_, name, to_string(split),
           to_string(split_));
    }
    return found->second;
  }

  int64_t row_of(const std::string& id, int64_t label) {
    const auto found = row_index_.find(id);
    if (found == row_index_.end()) fail("{} names the image '{}', which the features do not have", at_, id);
    const int64_t row = found->second;
    if (features_.labels.data_ptr<int64_t>()[row] != label) {
      fail("{} lists the image '{}' under '{}', which is not its class", at_, id,
           features_.class_names[static_cast<size_t>(label)]);
    }
    if (!used_.insert(row).second) fail("{} uses the image '{}' twice; support and query must be disjoint", at_, id);
    return row;
  }

  Groups rows_of(const json& groups, const std::vector<int64_t>& classes, int64_t expected) {
    if (groups.size() != classes.size())
      fail("{} has {} groups of images for {} classes", at_, groups.size(), classes.size());
    Groups rows(classes.size());
    for (size_t i = 0; i < classes.size(); ++i) {
      for (const auto& id : groups[i]) rows[i].push_back(row_of(id.get<std::string>(), classes[i]));
      if (static_cast<int64_t>(rows[i].size()) != expected) {
        fail("{} has {} images where {} were expected", at_, rows[i].size(), expected);
      }
    }
    return rows;
  }

  std::string where_;
  std::string at_;
  const FeatureSet& features_;
  EpisodeShape shape_;
  Split split_;
  std::unordered_map<std::string, int64_t> class_index_;
  std::unordered_map<std::string, int64_t> row_index_;
  std::unordered_set<int64_t> used_;
};

}  // namespace

std::string_view to_string(QueryDistribution distribution) {
  return distribution == QueryDistribution::kBalanced ? "balanced" : "dirichlet";
}

QueryDistribution parse_query_distribution(std::string_view text) {
  if (text == "balanced") return QueryDistribution::kBalanced;
  if (text == "dirichlet") return QueryDistribution::kDirichlet;
  fail_usage("unknown distribution of queries '{}'; use balanced or dirichlet", text);
}

std::string EpisodeList::hash(const FeatureSet& features) const { return hash_bytes(canonical_text(*this, features)); }

EpisodeList sample_episodes(const FeatureSet& features, Split split, const EpisodeShape& shape, int64_t count,
                            uint64_t seed) {
  check_shape(shape);
  if (count < 1) fail_usage("at least one episode is needed, found {}", count);
  const auto classes = features.classes_of(split);
  if (static_cast<int64_t>(classes.size()) < shape.n_way) {
    fail("the split '{}' has {} classes, {}-way episodes need {}", to_string(split), classes.size(), shape.n_way,
         shape.n_way);
  }
  const auto rows = features.rows_by_class();
  for (const int64_t label : classes) {
    const auto images = static_cast<int64_t>(rows[static_cast<size_t>(label)].size());
    if (images < shape.k_shot + shape.n_query) {
      fail("class '{}' has {} images, {} shots and {} queries need {}",
           features.class_names[static_cast<size_t>(label)], images, shape.k_shot, shape.n_query,
           shape.k_shot + shape.n_query);
    }
  }
  EpisodeList list{shape, split, seed, {}};
  const Rng rng(seed);
  for (int64_t i = 0; i < count; ++i)
    list.episodes.push_back(draw(classes, rows, shape, rng.fork(static_cast<uint64_t>(i))));
  return list;
}

void write_episodes(const std::filesystem::path& path, const EpisodeList& list, const FeatureSet& features) {
  write_file(path, canonical_text(list, features));
}

EpisodeList read_episodes(const std::filesystem::path& path, const FeatureSet& features) {
  const json parsed = json::parse(read_file(path), nullptr, false);
  if (!parsed.is_object()) fail("{} is not an episode list: a JSON object was expected", path.string());
  EpisodeList list;
  try {
    parsed.at("n_way").get_to(list.shape.n_way);
    parsed.at("k_shot").get_to(list.shape.k_shot);
    parsed.at("n_query").get_to(list.shape.n_query);
    check_shape(list.shape);
    list.split = parse_split(parsed.at("split").get<std::string>());
    list.seed = parsed.value("seed", uint64_t{0});
    EpisodeParser parser(path.string(), features, list.shape, list.split);
    for (const auto& entry : parsed.at("episodes")) list.episodes.push_back(parser.parse(entry, list.episodes.size()));
  } catch (const json::exception& error) {
    fail("{} is not an episode list: {}", path.string(), error.what());
  } catch (const UsageError& error) {
    fail("{}: {}", path.string(), error.what());
  }
  if (list.episodes.empty()) fail("{} holds no episode", path.string());
  return list;
}

}  // namespace protocom
