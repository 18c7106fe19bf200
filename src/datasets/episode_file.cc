#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/json_text.h"
#include "datasets/detail/episode_shape.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom {
namespace {

using nlohmann::json;
using Groups = std::vector<std::vector<int64_t>>;

/// Returns a list without its episodes. Fields that older lists do not have are written only if used, so that equal
/// tasks keep their hash.
json head_json(const EpisodeList& list) {
  const EpisodeShape& shape = list.shape;
  json head = {{"n_way", shape.n_way},           {"k_shot", shape.k_shot}, {"n_query", shape.n_query},
               {"split", to_string(list.split)}, {"seed", list.seed},      {"episodes", nullptr}};
  if (shape.ragged()) head["most_shots"] = shape.most_shots;
  if (shape.unlabelled > 0) head["unlabelled"] = shape.unlabelled;
  if (shape.query_distribution == QueryDistribution::kDirichlet) {
    head["query_distribution"] = to_string(shape.query_distribution);
    head["alpha"] = shape.alpha;
  }
  return head;
}

/// Writes episodes as nlohmann::json::dump would, keys sorted, but quotes every name only once: ten thousand episodes
/// name a million images.
class EpisodeWriter {
 public:
  explicit EpisodeWriter(const FeatureSet& features)
      : features_(features), class_(features.class_names.size()), image_(features.image_ids.size()) {}

  void append(const Episode& episode, std::string& text) {
    text += "{\"classes\":[";
    for (const int64_t label : episode.classes) {
      text += quoted(class_[static_cast<size_t>(label)], features_.class_names[static_cast<size_t>(label)]);
      text += ',';
    }
    text.back() = ']';
    if (!episode.pool.empty()) append_groups(",\"pool\":[", episode.pool, text);
    append_groups(",\"query\":[", episode.query, text);
    append_groups(",\"support\":[", episode.support, text);
    text += '}';
  }

 private:
  static const std::string& quoted(std::string& known, const std::string& name) {
    if (known.empty()) known = strict_json_text(json(name));
    return known;
  }

  void append_groups(const char* start, const Groups& groups, std::string& text) {
    text += start;
    for (const auto& rows : groups) {
      text += '[';
      for (const int64_t row : rows) {
        text += quoted(image_[static_cast<size_t>(row)], features_.image_ids[static_cast<size_t>(row)]);
        text += ',';
      }
      if (rows.empty()) text += ',';
      text.back() = ']';
      text += ',';
    }
    text.back() = ']';
  }

  const FeatureSet& features_;
  std::vector<std::string> class_;
  std::vector<std::string> image_;
};

/// Returns the canonical text of a list, whose keys are sorted. Throws Error if a name is not UTF-8, which JSON cannot
/// hold.
std::string canonical_text(const EpisodeList& list, const FeatureSet& features) {
  try {
    const std::string head = strict_json_text(head_json(list));
    constexpr std::string_view kPlace = "\"episodes\":null";
    const size_t place = head.find(kPlace);
    std::string text = head.substr(0, place) + "\"episodes\":[";
    EpisodeWriter writer(features);
    for (size_t i = 0; i < list.episodes.size(); ++i) {
      if (i > 0) text += ',';
      writer.append(list.episodes[i], text);
      if (i == 0) text.reserve(text.size() * (list.episodes.size() + 1));  // ten thousand episodes make 16 MB
    }
    return text + "]" + head.substr(place + kPlace.size());
  } catch (const json::exception& error) {
    fail("cannot write these episodes as JSON: a class name or an image id is not UTF-8: {}", reason_of(error));
  }
}

/// Resolves names and ids in an episode file, with messages that say which episode is wrong.
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
      fail("{} has a duplicate class", at_);
    }
    episode.support = rows_of(entry.at("support"), episode.classes, {shape_.k_shot, most_shots(shape_)});
    episode.query = rows_of(entry.at("query"), episode.classes, queries_a_class());
    check_query_total(episode);
    if (shape_.unlabelled > 0)
      episode.pool = rows_of(entry.at("pool"), episode.classes, {shape_.unlabelled, shape_.unlabelled});
    return episode;
  }

 private:
  struct Range {
    int64_t low;
    int64_t high;
  };

  [[nodiscard]] Range queries_a_class() const {
    if (shape_.query_distribution == QueryDistribution::kBalanced) return {shape_.n_query, shape_.n_query};
    return {0, shape_.n_way * shape_.n_query};
  }

  void check_query_total(const Episode& episode) const {
    int64_t total = 0;
    for (const auto& rows : episode.query) total += static_cast<int64_t>(rows.size());
    if (total != shape_.n_way * shape_.n_query) {
      fail("{} has {} queries, {} classes of {} on average make {}", at_, total, shape_.n_way, shape_.n_query,
           shape_.n_way * shape_.n_query);
    }
  }

  int64_t label_of(const std::string& name) const {
    const auto found = class_index_.find(name);
    if (found == class_index_.end())
      fail("{} names the class '{}', which the features do not have", at_, excerpt(name));
    const Split split = features_.class_split[static_cast<size_t>(found->second)];
    if (split != split_) {
      fail("{} names the class '{}', which is in the split '{}', not '{}'", at_, excerpt(name), to_string(split),
           to_string(split_));
    }
    return found->second;
  }

  int64_t row_of(const std::string& id, int64_t label) {
    const auto found = row_index_.find(id);
    if (found == row_index_.end()) fail("{} names the image '{}', which the features do not have", at_, excerpt(id));
    const int64_t row = found->second;
    if (features_.labels[static_cast<size_t>(row)] != label) {
      fail("{} lists the image '{}' under '{}', which is not its class", at_, excerpt(id),
           features_.class_names[static_cast<size_t>(label)]);
    }
    if (!used_.insert(row).second)
      fail("{}: duplicate image '{}': expected disjoint support, query and pool", at_, excerpt(id));
    return row;
  }

  Groups rows_of(const json& groups, const std::vector<int64_t>& classes, Range expected) {
    if (groups.size() != classes.size())
      fail("{} has {} groups of images for {} classes", at_, groups.size(), classes.size());
    Groups rows(classes.size());
    for (size_t i = 0; i < classes.size(); ++i) {
      for (const auto& id : groups[i]) rows[i].push_back(row_of(id.get<std::string>(), classes[i]));
      const auto found = static_cast<int64_t>(rows[i].size());
      if (found < expected.low || found > expected.high) {
        fail("{} has {} images, expected {}", at_, found,
             expected.low == expected.high ? fmt::format("{}", expected.low)
                                           : fmt::format("{} to {}", expected.low, expected.high));
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

std::string EpisodeList::hash(const FeatureSet& features) const { return hash_bytes(canonical_text(*this, features)); }

void write_episodes(const std::filesystem::path& path, const EpisodeList& list, const FeatureSet& features) {
  write_file(path, canonical_text(list, features));
}

EpisodeList read_episodes(const std::filesystem::path& path, const FeatureSet& features) {
  const json parsed = read_json(path);
  if (!parsed.is_object()) fail("{} is not an episode list: expected a JSON object", path.string());
  EpisodeList list;
  try {
    list.shape.n_way = whole_number<int64_t>(parsed.at("n_way"));
    list.shape.k_shot = whole_number<int64_t>(parsed.at("k_shot"));
    list.shape.n_query = whole_number<int64_t>(parsed.at("n_query"));
    list.shape.most_shots = whole_number_or<int64_t>(parsed, "most_shots", 0);
    list.shape.unlabelled = whole_number_or<int64_t>(parsed, "unlabelled", 0);
    list.shape.query_distribution = parse_query_distribution(parsed.value("query_distribution", "balanced"));
    list.shape.alpha = parsed.value("alpha", list.shape.alpha);
    check_shape(list.shape);
    list.split = parse_split(parsed.at("split").get<std::string>());
    if (parsed.contains("seed")) list.seed = whole_number<uint64_t>(parsed["seed"]);
    EpisodeParser parser(path.string(), features, list.shape, list.split);
    for (const auto& entry : parsed.at("episodes")) list.episodes.push_back(parser.parse(entry, list.episodes.size()));
  } catch (const json::exception& error) {
    fail("{} is not an episode list: {}", path.string(), reason_of(error));
  } catch (const UsageError& error) {
    fail("{}: {}", path.string(), error.what());
  }
  if (list.episodes.empty()) fail("{} holds no episode", path.string());
  return list;
}

}  // namespace protocom
