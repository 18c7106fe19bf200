#include "eval/analysis_queries.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"

namespace protocom {
namespace {

/// Maps class indices of the features to rows of the matrix.
std::map<int64_t, size_t> number_classes(const EpisodeList& episodes) {
  std::map<int64_t, size_t> places;
  for (const Episode& episode : episodes.episodes) {
    for (const int64_t k : episode.classes) places.emplace(k, 0);
  }
  size_t next = 0;
  for (auto& entry : places) entry.second = next++;
  return places;
}

/// How often a class was predicted as another one, and how often it could have been.
struct Counts {
  std::vector<std::vector<double>> taken;
  std::vector<std::vector<double>> possible;
  std::map<std::pair<size_t, size_t>, std::set<int64_t>> episodes;  // in which the first was predicted as the second
};

Counts count(const EpisodeList& episodes, const std::vector<Prediction>& queries,
             const std::map<int64_t, size_t>& places) {
  const size_t n = places.size();
  Counts counts{std::vector(n, std::vector<double>(n)), std::vector(n, std::vector<double>(n)), {}};
  for (const Prediction& query : queries) {
    const size_t truth = places.at(query.true_class);
    const size_t answer = places.at(query.predicted);
    counts.taken[truth][answer] += 1.0;
    if (answer != truth) counts.episodes[{truth, answer}].insert(query.episode);
    for (const int64_t k : episodes.episodes[static_cast<size_t>(query.episode)].classes)
      counts.possible[truth][places.at(k)] += 1.0;
  }
  return counts;
}

/// Returns for each class the accuracies of its episodes, percent.
std::vector<std::vector<double>> accuracies(const std::vector<Prediction>& queries,
                                            const std::map<int64_t, size_t>& places) {
  std::map<std::pair<size_t, int64_t>, std::pair<double, double>> right_of;  // (class, episode) -> right, all
  for (const Prediction& query : queries) {
    auto& [right, all] = right_of[{places.at(query.true_class), query.episode}];
    right += query.true_class == query.predicted ? 1.0 : 0.0;
    all += 1.0;
  }
  std::vector<std::vector<double>> result(places.size());
  for (const auto& [key, tally] : right_of) result[key.first].push_back(100.0 * tally.first / tally.second);
  return result;
}

/// Returns the class that `own` is most often confused with, by its row of the matrix; `own` if there is none.
size_t worst_confusion(const std::vector<double>& row, size_t own) {
  size_t worst = own;
  for (size_t c = 0; c < row.size(); ++c) {
    if (c != own && row[c] > (worst == own ? 0.0 : row[worst])) worst = c;
  }
  return worst;
}

}  // namespace

ClassesAnalysis analyse_classes(const FeatureSet& features, const EpisodeList& episodes,
                                const std::vector<Prediction>& queries, const std::vector<std::string>& titles) {
  const auto places = number_classes(episodes);
  const Counts counts = count(episodes, queries, places);
  const auto accuracy = accuracies(queries, places);
  ClassesAnalysis result;
  result.confusion = counts.taken;
  for (size_t r = 0; r < places.size(); ++r) {
    for (size_t c = 0; c < places.size(); ++c) {
      const double possible = counts.possible[r][c];
      result.confusion[r][c] = possible > 0.0 ? 100.0 * counts.taken[r][c] / possible : -1.0;
    }
  }
  for (const auto& [k, place] : places) {
    const auto index = static_cast<size_t>(k);
    const std::string& name = features.class_names[index];
    result.classes.push_back({name, titles.empty() ? name : titles[index],
                              static_cast<int64_t>(counts.possible[place][place]),
                              accuracy[place].empty() ? Estimate{} : estimate(accuracy[place]), "", 0.0, 0});
  }
  for (size_t r = 0; r < places.size(); ++r) {
    const size_t worst = worst_confusion(result.confusion[r], r);
    if (worst == r) continue;
    ClassScore& score = result.classes[r];
    score.confused_with = result.classes[worst].title;
    score.confused_percent = result.confusion[r][worst];
    score.confused_episodes = static_cast<int64_t>(counts.episodes.at({r, worst}).size());
  }
  return result;
}

namespace {

/// Returns which of `bins` of equal width its probability falls into.
size_t bin_of(const Prediction& query, size_t bins) {
  const double width = 1.0 / static_cast<double>(bins);
  return std::min(static_cast<size_t>(query.probability / width), bins - 1);
}

/// Adds the half widths of the intervals of the two means, over the means of episodes: queries of one episode are not
/// independent.
void add_intervals(const std::vector<Prediction>& queries, const std::vector<CalibrationBin>& all,
                   ReliabilityCurve& curve) {
  struct Sums {
    double over = 0, error = 0, count = 0;
  };
  std::map<int64_t, Sums> episodes;
  for (const Prediction& query : queries) {
    const CalibrationBin& bin = all[bin_of(query, all.size())];
    const double over = query.probability - (query.true_class == query.predicted ? 1.0 : 0.0);
    Sums& sums = episodes[query.episode];
    sums.over += over;
    sums.error += bin.confidence > bin.accuracy ? over : -over;
    sums.count += 1;
  }
  std::vector<double> over, error;
  for (const auto& [episode, sums] : episodes) {
    over.push_back(sums.over / sums.count);
    error.push_back(sums.error / sums.count);
  }
  curve.overconfidence_ci95 = estimate(over).ci95;
  curve.expected_error_ci95 = estimate(error).ci95;
}

}  // namespace

ReliabilityCurve reliability_curve(const std::vector<Prediction>& queries, int64_t bins) {
  if (bins < 1) fail_usage("a reliability curve needs at least 1 bin, found {}", bins);
  if (queries.empty()) fail("a reliability curve needs queries, found none");
  const auto width = 1.0 / static_cast<double>(bins);
  std::vector<CalibrationBin> all(static_cast<size_t>(bins));
  ReliabilityCurve result;
  for (const Prediction& query : queries) {
    CalibrationBin& bin = all[bin_of(query, all.size())];
    const double right = query.true_class == query.predicted ? 1.0 : 0.0;
    ++bin.count;
    bin.confidence += query.probability;
    bin.accuracy += right;
    result.overconfidence += (query.probability - right) / static_cast<double>(queries.size());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    CalibrationBin& bin = all[i];
    if (bin.count == 0) continue;
    bin.low = static_cast<double>(i) * width;
    bin.high = static_cast<double>(i + 1) * width;
    const auto n = static_cast<double>(bin.count);
    bin.confidence /= n;
    bin.accuracy /= n;
    result.expected_error += n / static_cast<double>(queries.size()) * std::abs(bin.accuracy - bin.confidence);
    result.bins.push_back(bin);
  }
  add_intervals(queries, all, result);
  return result;
}

std::vector<Prediction> surest_mistakes(const std::vector<Prediction>& queries, int64_t count) {
  std::vector<Prediction> mistakes;
  std::copy_if(queries.begin(), queries.end(), std::back_inserter(mistakes),
               [](const Prediction& query) { return query.true_class != query.predicted; });
  std::stable_sort(mistakes.begin(), mistakes.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
  std::set<int64_t> seen;
  std::vector<Prediction> result;
  for (const Prediction& mistake : mistakes) {
    if (static_cast<int64_t>(result.size()) == count) break;
    if (seen.insert(mistake.row).second) result.push_back(mistake);
  }
  return result;
}

EpisodesAnalysis analyse_episodes(const FeatureSet& features, const EpisodeList& episodes,
                                  const std::vector<MethodScores>& scores) {
  constexpr size_t kWorst = 8;
  const auto accuracy_of = [&](const std::string& method) -> const std::vector<double>& {
    const MethodScores* found = find_scores(scores, method);
    if (found == nullptr || found->accuracy.size() != episodes.episodes.size())
      fail("the analysis of episodes needs the scores of '{}' on all of them", method);
    return found->accuracy;
  };
  std::vector<EpisodeChange> all;
  EpisodesAnalysis result;
  const auto n = static_cast<double>(episodes.episodes.size());
  for (size_t i = 0; i < episodes.episodes.size(); ++i) {
    EpisodeChange change{static_cast<int64_t>(i),        {}, accuracy_of("mean")[i], accuracy_of("completed")[i],
                         accuracy_of("gauss-fusion")[i], 0.0};
    change.change = change.fused - change.mean;
    for (const int64_t k : episodes.episodes[i].classes)
      change.classes.push_back(features.class_names[static_cast<size_t>(k)]);
    result.lost_percent += change.change < 0.0 ? 100.0 / n : 0.0;
    result.unchanged_percent += change.change == 0.0 ? 100.0 / n : 0.0;
    result.changes.push_back(change.change);
    all.push_back(std::move(change));
  }
  result.change = estimate(result.changes);
  std::sort(result.changes.begin(), result.changes.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.change < b.change; });
  for (const EpisodeChange& change : all) {
    if (result.worst.size() == kWorst || change.change >= 0.0) break;
    result.worst.push_back(change);
  }
  return result;
}

}  // namespace protocom
