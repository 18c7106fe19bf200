#include "protocom/data/episodes.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "protocom/core/error.h"
#include "protocom/core/files.h"
#include "protocom/core/rng.h"

namespace protocom {
namespace {

using nlohmann::json;
using Groups = std::vector<std::vector<int64_t>>;

/// The most shots a class may have.
int64_t most_shots(const EpisodeShape& shape) { return std::max(shape.k_shot, shape.most_shots); }

void check_shape(const EpisodeShape& shape) {
  if (shape.n_way < 2) fail_usage("n-way must be at least 2, found {}", shape.n_way);
  if (shape.k_shot < 1) fail_usage("k-shot must be at least 1, found {}", shape.k_shot);
  if (shape.n_query < 1) fail_usage("the number of queries a class must be at least 1, found {}", shape.n_query);
  if (shape.most_shots != 0 && shape.most_shots < shape.k_shot)
    fail_usage("the shots of a ragged task must run from few to many, found {} to {}", shape.k_shot, shape.most_shots);
  if (shape.unlabelled < 0) fail_usage("the unlabelled images a class must be at least 0, found {}", shape.unlabelled);
  if (shape.query_distribution == QueryDistribution::kDirichlet && !(shape.alpha > 0 && std::isfinite(shape.alpha)))
    fail_usage("alpha of the Dirichlet distribution must be above 0, found {}", shape.alpha);
}

// ---------------------------------------------------------------------------------------------------------- drawing

/// Gamma(shape, 1): Marsaglia & Tsang 2000, "A simple method for generating gamma variables".
double draw_gamma(double shape, Rng& rng) {
  if (shape < 1) return draw_gamma(shape + 1, rng) * std::pow(1.0 - rng.uniform(), 1.0 / shape);
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = rng.normal();
    const double v = std::pow(1.0 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(1.0 - rng.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

/// Proportions of Dirichlet(alpha, ..., alpha).
std::vector<double> draw_proportions(int64_t classes, double alpha, Rng& rng) {
  std::vector<double> parts(static_cast<size_t>(classes));
  double sum = 0;
  for (double& part : parts) sum += part = draw_gamma(alpha, rng);
  // A tiny alpha can leave nothing but zeros: all weight then goes to one class, which is its limit.
  if (!(sum > 0)) parts[static_cast<size_t>(rng.below(classes))] = sum = 1;
  for (double& part : parts) part /= sum;
  return parts;
}

/// Draws episodes of one shape. One a thread.
class EpisodeSampler {
 public:
  EpisodeSampler(const std::vector<int64_t>& classes, const Groups& rows_by_class, const EpisodeShape& shape)
      : classes_(classes), rows_by_class_(rows_by_class), shape_(shape) {
    size_t most = classes.size();
    for (const auto& rows : rows_by_class) most = std::max(most, rows.size());
    place_.resize(most);
    std::iota(place_.begin(), place_.end(), 0);
  }

  Episode draw(Rng rng) {
    Episode episode;
    const auto n = static_cast<size_t>(shape_.n_way);
    episode.classes.reserve(n);
    episode.support.reserve(n);
    episode.query.reserve(n);
    sample(static_cast<int64_t>(classes_.size()), shape_.n_way, rng);
    for (const int64_t pick : drawn_) episode.classes.push_back(classes_[static_cast<size_t>(pick)]);
    draw_shots(rng.fork(kShots));
    draw_queries(episode, rng.fork(kQueries));
    for (size_t i = 0; i < episode.classes.size(); ++i) draw_images(episode, i, rng);
    return episode;
  }

 private:
  // Generators of their own, so that none of these changes which classes and images come first.
  static constexpr uint64_t kShots = 1;
  static constexpr uint64_t kQueries = 2;
  static constexpr uint64_t kFirstPool = 3;

  /// The values of Rng::sample, without its memory.
  void sample(int64_t bound, int64_t count, Rng& rng) {
    for (const size_t place : moved_) place_[place] = static_cast<int64_t>(place);
    drawn_.clear();
    moved_.clear();
    sample_more(bound, count, rng);
  }

  /// As many again, of those not yet drawn.
  void sample_more(int64_t bound, int64_t count, Rng& rng) {
    for (auto i = static_cast<int64_t>(drawn_.size()); count-- > 0; ++i) {
      const auto place = static_cast<size_t>(i + rng.below(bound - i));
      drawn_.push_back(place_[place]);
      place_[place] = place_[static_cast<size_t>(i)];
      moved_.push_back(place);
    }
  }

  void draw_shots(Rng rng) {
    shots_.assign(static_cast<size_t>(shape_.n_way), shape_.k_shot);
    if (!shape_.ragged()) return;
    for (int64_t& shots : shots_) shots += rng.below(shape_.most_shots - shape_.k_shot + 1);
  }

  /// Numbers of queries a class: shares of all queries, rounded so that the largest remainders get one more; what a
  /// class has no images for goes to the class that is furthest below its share.
  void draw_queries(const Episode& episode, Rng rng) {
    queries_.assign(static_cast<size_t>(shape_.n_way), shape_.n_query);
    if (shape_.query_distribution == QueryDistribution::kBalanced) return;
    const int64_t total = shape_.n_way * shape_.n_query;
    const auto shares = draw_proportions(shape_.n_way, shape_.alpha, rng);
    int64_t given = 0;
    std::vector<int64_t> room;
    for (size_t i = 0; i < queries_.size(); ++i) {
      const auto images = static_cast<int64_t>(rows_by_class_[static_cast<size_t>(episode.classes[i])].size());
      room.push_back(images - shots_[i] - shape_.unlabelled);
      queries_[i] = std::min(static_cast<int64_t>(shares[i] * static_cast<double>(total)), room[i]);
      given += queries_[i];
    }
    for (; given < total; ++given) {
      size_t neediest = queries_.size();
      double most = 0;
      for (size_t i = 0; i < queries_.size(); ++i) {
        const double missing = shares[i] * static_cast<double>(total) - static_cast<double>(queries_[i]);
        if (queries_[i] == room[i] || (neediest < queries_.size() && missing <= most)) continue;
        neediest = i;
        most = missing;
      }
      ++queries_[neediest];
    }
  }

  void draw_images(Episode& episode, size_t i, Rng& rng) {
    const auto& rows = rows_by_class_[static_cast<size_t>(episode.classes[i])];
    const auto images = static_cast<int64_t>(rows.size());
    sample(images, shots_[i] + queries_[i], rng);
    Rng of_pool = rng.fork(kFirstPool + i);
    sample_more(images, shape_.unlabelled, of_pool);
    for (int64_t& pick : drawn_) pick = rows[static_cast<size_t>(pick)];
    const auto query = drawn_.begin() + shots_[i];
    const auto pool = query + queries_[i];
    episode.support.emplace_back(drawn_.begin(), query);
    episode.query.emplace_back(query, pool);
    if (shape_.unlabelled > 0) episode.pool.emplace_back(pool, drawn_.end());
  }

  const std::vector<int64_t>& classes_;
  const Groups& rows_by_class_;
  EpisodeShape shape_;
  std::vector<int64_t> place_;  // 0, 1, 2, ... but for moved_
  std::vector<int64_t> drawn_;
  std::vector<size_t> moved_;
  std::vector<int64_t> shots_;
  std::vector<int64_t> queries_;
};

std::string describe_need(const EpisodeShape& shape) {
  const std::string shots =
      shape.ragged() ? fmt::format("up to {} shots", shape.most_shots) : fmt::format("{} shots", shape.k_shot);
  if (shape.unlabelled == 0) return fmt::format("{} and {} queries", shots, shape.n_query);
  return fmt::format("{}, {} queries and {} unlabelled images", shots, shape.n_query, shape.unlabelled);
}

void check_sizes(const FeatureSet& features, const std::vector<int64_t>& classes, const Groups& rows,
                 const EpisodeShape& shape) {
  // Unbalanced queries need room on average only, but a class with less could not hold its share of a balanced draw.
  const int64_t need = most_shots(shape) + shape.n_query + shape.unlabelled;
  for (const int64_t label : classes) {
    const auto images = static_cast<int64_t>(rows[static_cast<size_t>(label)].size());
    if (images < need) {
      fail("class '{}' has {} images, {} need {}", features.class_names[static_cast<size_t>(label)], images,
           describe_need(shape), need);
    }
  }
}

// ------------------------------------------------------------------------------------------------------------- JSON

/// Everything of a list but its episodes. What older lists do not have is written only where it is used, so that equal
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

/// Writes episodes as nlohmann::json::dump would, keys sorted, but quotes every name once only: ten thousand episodes
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
    if (known.empty()) known = json(name).dump();
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

/// The one text for a list, whose keys are sorted. Throws Error when a name is not UTF-8, which JSON cannot hold.
std::string canonical_text(const EpisodeList& list, const FeatureSet& features) {
  try {
    const std::string head = head_json(list).dump();
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
    if (!used_.insert(row).second)
      fail("{} uses the image '{}' twice; support, query and pool must be disjoint", at_, id);
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
        fail("{} has {} images where {} were expected", at_, found,
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
  check_sizes(features, classes, rows, shape);
  EpisodeList list{shape, split, seed, {}};
  list.episodes.resize(static_cast<size_t>(count));
  const Rng rng(seed);
  constexpr int64_t kGrain = 256;
  at::parallel_for(0, count, kGrain, [&](int64_t begin, int64_t end) {
    EpisodeSampler sampler(classes, rows, shape);
    for (int64_t i = begin; i < end; ++i)
      list.episodes[static_cast<size_t>(i)] = sampler.draw(rng.fork(static_cast<uint64_t>(i)));
  });
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
    list.shape.most_shots = parsed.value("most_shots", int64_t{0});
    list.shape.unlabelled = parsed.value("unlabelled", int64_t{0});
    list.shape.query_distribution = parse_query_distribution(parsed.value("query_distribution", "balanced"));
    list.shape.alpha = parsed.value("alpha", list.shape.alpha);
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
