#include "eval/checks.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/rng.h"
#include "eval/detail/episode_rows.h"

namespace protocom {
namespace {

constexpr int64_t kPermutedEpisodes = 16;
constexpr int kRoundingTrials = 8;
constexpr float kTie = 1e-4F;  ///< sums in different order differ by about 1e-6

/// Checks one episode at a time; remembers where a row was last seen instead of clearing a set.
class EpisodeChecker {
 public:
  EpisodeChecker(const FeatureSet& features, const EpisodeList& list)
      : features_(features),
        split_(list.split),
        without_supports_(list.shape.k_shot == 0),
        labels_(features.labels),
        seen_in_(static_cast<size_t>(features.size()), -1),
        class_seen_in_(features.class_names.size(), -1) {}

  void check(const Episode& episode, int64_t number) {
    number_ = number;
    const size_t n = episode.classes.size();
    if (episode.support.size() != n || episode.query.size() != n || (!episode.pool.empty() && episode.pool.size() != n))
      fail("episode {} has {} classes, but not as many groups of supports, queries or pool", number, n);
    for (const int64_t label : episode.classes) check_class(label);
    size_t queries = 0;
    for (size_t i = 0; i < n; ++i) {
      if (episode.support[i].empty() && !without_supports_)
        fail("episode {} has no support of class '{}'", number, name(episode.classes[i]));
      queries += episode.query[i].size();
      check_rows(episode.support[i], episode.classes[i]);
      check_rows(episode.query[i], episode.classes[i]);
      if (!episode.pool.empty()) check_rows(episode.pool[i], episode.classes[i]);
    }
    if (queries == 0) fail("episode {} has no query", number);
  }

  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t classes() const {
    return std::count_if(class_seen_in_.begin(), class_seen_in_.end(), [](int64_t episode) { return episode >= 0; });
  }

 private:
  [[nodiscard]] const std::string& name(int64_t label) const {
    return features_.class_names[static_cast<size_t>(label)];
  }

  void check_class(int64_t label) {
    if (label < 0 || label >= static_cast<int64_t>(features_.class_names.size()))
      fail("episode {} has the class number {}, the features have {} classes", number_, label,
           features_.class_names.size());
    const Split split = features_.class_split[static_cast<size_t>(label)];
    if (split != split_) {
      fail("episode {} has the class '{}' of the split '{}', the episodes are of '{}'", number_, name(label),
           to_string(split), to_string(split_));
    }
    int64_t& seen = class_seen_in_[static_cast<size_t>(label)];
    if (seen == number_) fail("episode {} has a duplicate class '{}'", number_, name(label));
    seen = number_;
  }

  void check_rows(const std::vector<int64_t>& rows, int64_t label) {
    const int64_t* labels = labels_.data();
    for (const int64_t row : rows) {
      if (row < 0 || row >= features_.size())
        fail("episode {} has the feature row {}, there are {}", number_, row, features_.size());
      const auto& id = features_.image_ids[static_cast<size_t>(row)];
      if (labels[row] != label)
        fail("episode {} lists the image '{}' under '{}', which is not its class", number_, id, name(label));
      int64_t& seen = seen_in_[static_cast<size_t>(row)];
      if (seen == number_)
        fail("episode {}: duplicate image '{}': expected disjoint support, query and pool", number_, id);
      seen = number_;
    }
    rows_ += static_cast<int64_t>(rows.size());
  }

  const FeatureSet& features_;
  Split split_;
  bool without_supports_;  // classes may have none
  const std::vector<int64_t>& labels_;
  std::vector<int64_t> seen_in_;
  std::vector<int64_t> class_seen_in_;
  int64_t number_ = 0;
  int64_t rows_ = 0;
};

void check_class_names(const FeatureSet& features) {
  std::map<std::string, Split> split_of;
  for (size_t i = 0; i < features.class_names.size(); ++i) {
    const auto [entry, inserted] = split_of.emplace(features.class_names[i], features.class_split[i]);
    if (inserted) continue;
    fail("duplicate class '{}' in the features (in the splits '{}' and '{}')", entry->first, to_string(entry->second),
         to_string(features.class_split[i]));
  }
}

/// Returns the number of images of the split that are copies of another image of any split.
int64_t copies_within(const FeatureSet& features, const EpisodeList& list) {
  if (features.copies.empty()) return 0;
  std::map<std::string, Split> split_of;
  for (int64_t i = 0; i < features.size(); ++i)
    split_of[features.image_ids[static_cast<size_t>(i)]] =
        features.class_split[static_cast<size_t>(features.labels[static_cast<size_t>(i)])];
  int64_t copies = 0;
  for (const DuplicateGroup& group : features.copies) {
    copies += std::count_if(group.ids.begin(), group.ids.end(),
                            [&](const std::string& id) { return split_of[id] == list.split; });
  }
  return copies;
}

std::vector<int64_t> queries_by_class(const Episode& episode) {
  std::vector<int64_t> rows;
  append(episode.query, rows);
  return rows;
}

/// Returns `values` in the order of `places`.
std::vector<int64_t> permuted(const std::vector<int64_t>& values, const std::vector<int64_t>& places) {
  std::vector<int64_t> result;
  for (const int64_t place : places) result.push_back(values[static_cast<size_t>(place)]);
  return result;
}

/// Whether answers depend on rounding. Another order within each class reveals nothing about the classes, it only
/// changes the order of sums; a method that is near a tie (a mixture that may converge to either side) then also
/// answers differently.
bool follows_rounding(const NamedClassifier& named, const Episode& episode, const std::vector<QueryVerdict>& before) {
  for (int trial = 0; trial < kRoundingTrials; ++trial) {
    Rng rng(static_cast<uint64_t>(trial));
    std::vector<int64_t> places;
    for (const auto& group : episode.query) {
      const auto count = static_cast<int64_t>(group.size());
      const auto begin = static_cast<int64_t>(places.size());
      for (const int64_t place : rng.sample(count, count)) places.push_back(begin + place);
    }
    const auto after = named.classify(episode, permuted(queries_by_class(episode), places));
    for (size_t k = 0; k < places.size(); ++k) {
      if (before[static_cast<size_t>(places[k])].winner != after[k].winner) return true;
    }
  }
  return false;
}

}  // namespace

nlohmann::json ProtocolChecks::to_json() const {
  return {{"passed", true},
          {"disjoint",
           {{"what", "support, query and pool are disjoint and no feature row appears twice in an episode"},
            {"episodes", episodes},
            {"rows", rows},
            {"copies", copies}}},
          {"split",
           {{"what",
             "every class is of the split evaluated and of no other, and none is one that the model was trained on"},
            {"classes", classes},
            {"trained_on", trained_on}}},
          {"permutation",
           {{"what", "the same predictions with the queries in another order"},
            {"episodes", permuted_episodes},
            {"predictions", permuted_queries},
            {"ties", ties}}}};
}

void ProtocolChecks::add(const ProtocolChecks& other) {
  episodes += other.episodes;
  rows += other.rows;
  copies = std::max(copies, other.copies);
  classes = std::max(classes, other.classes);
  trained_on = std::max(trained_on, other.trained_on);
  permuted_episodes += other.permuted_episodes;
  permuted_queries += other.permuted_queries;
  ties += other.ties;
}

ProtocolChecks check_episodes(const FeatureSet& features, const EpisodeList& list) {
  check_class_names(features);
  EpisodeChecker checker(features, list);
  for (size_t i = 0; i < list.episodes.size(); ++i) checker.check(list.episodes[i], static_cast<int64_t>(i));
  ProtocolChecks checks;
  checks.copies = copies_within(features, list);
  checks.episodes = static_cast<int64_t>(list.episodes.size());
  checks.rows = checker.rows();
  checks.classes = checker.classes();
  return checks;
}

void check_unseen(const FeatureSet& features, Split split, const std::vector<std::string>& trained_on,
                  ProtocolChecks& checks) {
  checks.trained_on = static_cast<int64_t>(trained_on.size());
  if (split == Split::kBase) return;
  const std::set<std::string> seen(trained_on.begin(), trained_on.end());
  for (const int64_t label : features.classes_of(split)) {
    const auto& name = features.class_names[static_cast<size_t>(label)];
    if (seen.count(name) > 0) {
      fail(
          "the class '{}' is of the split '{}', but the model was trained on it: train it with the split that is "
          "evaluated",
          name, to_string(split));
    }
  }
}

void check_permutation(const FeatureSet& features, const EpisodeList& list, const NamedClassifier& named,
                       ProtocolChecks& checks) {
  const auto episodes = static_cast<int64_t>(list.episodes.size());
  const int64_t sample = std::min(kPermutedEpisodes, episodes);
  for (int64_t i = 0; i < sample; ++i) {
    const int64_t number = i * episodes / sample;
    const Episode& episode = list.episodes[static_cast<size_t>(number)];
    const auto rows = queries_by_class(episode);
    const auto count = static_cast<int64_t>(rows.size());
    const auto places = Rng(static_cast<uint64_t>(number)).sample(count, count);
    const auto before = named.classify(episode, rows);
    const auto after = named.classify(episode, permuted(rows, places));
    for (size_t k = 0; k < places.size(); ++k) {
      const auto old = static_cast<size_t>(places[k]);
      if (before[old].winner == after[k].winner) continue;
      // A tie may be resolved either way; a clear answer that changes means that the method uses the order, unless
      // rounding alone explains it.
      if (std::max(before[old].margin, after[k].margin) > kTie && !follows_rounding(named, episode, before)) {
        fail(
            "'{}' predicts the image '{}' of episode {} differently when the queries come in another order: it uses "
            "their order, which reveals their classes",
            named.method, features.image_ids[static_cast<size_t>(rows[old])], number);
      }
      ++checks.ties;
    }
    checks.permuted_queries += count;
  }
  checks.permuted_episodes = std::max(checks.permuted_episodes, sample);
}

}  // namespace protocom
