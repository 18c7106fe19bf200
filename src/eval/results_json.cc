#include "eval/results_json.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/json.h"

namespace protocom {
namespace {

using nlohmann::json;

const MethodScores& scores_of(const std::vector<MethodScores>& methods, const std::string& label) {
  const MethodScores* found = find_scores(methods, label);
  if (found == nullptr) fail("the results have no scores of '{}'", label);
  return *found;
}

json seed_json(const SeedScores& seed, size_t method) {
  const MethodScores& scores = seed.methods[method];
  const Estimate accuracy = estimate(scores.accuracy);
  json out = {
      {"seed", seed.seed}, {"episodes", scores.accuracy.size()}, {"accuracy", accuracy.value}, {"ci95", accuracy.ci95}};
  if (!scores.cosine.empty()) out["cosine"] = estimate(scores.cosine).value;
  return out;
}

/// Returns the percentage of episodes in which a is above b.
double share_better(const std::vector<double>& a, const std::vector<double>& b) {
  size_t better = 0;
  for (size_t i = 0; i < a.size(); ++i) better += a[i] > b[i] ? 1 : 0;
  return 100.0 * static_cast<double>(better) / static_cast<double>(a.size());
}

bool has(const std::vector<std::string>& methods, const std::string& label) {
  return std::find(methods.begin(), methods.end(), label) != methods.end();
}

}  // namespace

std::vector<MethodScores> pooled(const std::vector<SeedScores>& seeds) {
  std::vector<MethodScores> all;
  for (const SeedScores& seed : seeds) {
    for (size_t i = 0; i < seed.methods.size(); ++i) {
      const MethodScores& more = seed.methods[i];
      if (all.size() == i) all.push_back({more.method, more.mode, {}, {}});
      if (all[i].method != more.method)
        fail("results of different methods cannot be pooled: '{}' and '{}'", all[i].method, more.method);
      all[i].accuracy.insert(all[i].accuracy.end(), more.accuracy.begin(), more.accuracy.end());
      all[i].cosine.insert(all[i].cosine.end(), more.cosine.begin(), more.cosine.end());
    }
  }
  return all;
}

json shape_json(const EpisodeShape& shape) {
  json out = {{"n_way", shape.n_way}, {"k_shot", shape.k_shot}, {"n_query", shape.n_query}};
  if (shape.ragged()) out["k_shot_max"] = shape.most_shots;
  if (shape.unlabelled > 0) out["unlabelled"] = shape.unlabelled;
  if (shape.query_distribution == QueryDistribution::kDirichlet) {
    out["query_distribution"] = to_string(shape.query_distribution);
    out["alpha"] = shape.alpha;
  }
  return out;
}

EpisodeShape shape_from_json(const json& fields) {
  EpisodeShape shape;
  shape.n_way = whole_number<int64_t>(fields.at("n_way"));
  shape.k_shot = whole_number<int64_t>(fields.at("k_shot"));
  shape.n_query = whole_number<int64_t>(fields.at("n_query"));
  shape.most_shots = whole_number_or(fields, "k_shot_max", shape.most_shots);
  shape.unlabelled = whole_number_or(fields, "unlabelled", shape.unlabelled);
  if (fields.contains("query_distribution"))
    shape.query_distribution = parse_query_distribution(fields["query_distribution"].get<std::string>());
  shape.alpha = fields.value("alpha", shape.alpha);
  return shape;
}

std::string describe(const EpisodeShape& shape) {
  std::string text = shape.ragged() ? fmt::format("{}-way {}-{}-shot", shape.n_way, shape.k_shot, shape.most_shots)
                                    : fmt::format("{}-way {}-shot", shape.n_way, shape.k_shot);
  if (shape.unlabelled > 0) text += fmt::format(" + {} unlabelled", shape.unlabelled);
  if (shape.query_distribution == QueryDistribution::kDirichlet) text += fmt::format(", dirichlet({:g})", shape.alpha);
  return text;
}

json results_json(const EpisodeShape& shape, const std::vector<MethodScores>& results) {
  json out = json::array();
  for (const auto& result : results) {
    const Estimate accuracy = estimate(result.accuracy);
    json row = shape_json(shape);
    row["method"] = result.method;
    row["mode"] = result.mode;
    row["episodes"] = result.accuracy.size();
    row["accuracy"] = accuracy.value;
    row["ci95"] = accuracy.ci95;
    if (!result.cosine.empty()) {
      const Estimate cosine = estimate(result.cosine);
      row["cosine"] = cosine.value;
      row["cosine_ci95"] = cosine.ci95;
    }
    row["per_episode"] = result.accuracy;
    out.push_back(std::move(row));
  }
  return out;
}

json results_json(const EpisodeShape& shape, const std::vector<SeedScores>& seeds) {
  json out = results_json(shape, pooled(seeds));
  if (seeds.size() < 2) return out;
  for (size_t i = 0; i < out.size(); ++i) {
    json per_seed = json::array();
    for (const SeedScores& seed : seeds) per_seed.push_back(seed_json(seed, i));
    out[i]["per_seed"] = std::move(per_seed);
  }
  return out;
}

Comparisons with_labels(Comparisons asked, const std::vector<std::string>& methods) {
  const auto resolve = [&](std::string& name) {
    const std::string found = label_meant(methods, name);
    name = found.empty() ? checked_label(name) : found;
  };
  resolve(asked.baseline);
  for (MethodPair& pair : asked.pairs) {
    resolve(pair.first);
    resolve(pair.second);
  }
  return asked;
}

std::vector<MethodPair> pairs_to_compare(const std::vector<std::string>& methods, const Comparisons& asked) {
  std::vector<MethodPair> pairs;
  const auto add = [&](MethodPair pair) {
    if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(std::move(pair));
  };
  if (has(methods, asked.baseline)) {
    for (const std::string& method : methods) {
      if (method != asked.baseline) add({method, asked.baseline});
    }
  } else if (asked.baseline != Comparisons().baseline) {
    fail_usage("baseline: unknown method '{}': expected one of {}", asked.baseline, fmt::join(methods, ", "));
  }
  for (const MethodPair& pair : asked.pairs) {
    for (const std::string& method : {pair.first, pair.second}) {
      if (!has(methods, method))
        fail_usage("comparison: unknown method '{}': expected one of {}", method, fmt::join(methods, ", "));
    }
    if (pair.first == pair.second) fail_usage("'{}' is compared with itself", pair.first);
    add(pair);
  }
  return pairs;
}

json differences_json(const EpisodeShape& shape, const std::vector<SeedScores>& seeds,
                      const std::vector<MethodPair>& pairs) {
  const auto all = pooled(seeds);
  json out = json::array();
  for (const auto& [method, baseline] : pairs) {
    if (find_scores(all, method) == nullptr || find_scores(all, baseline) == nullptr) continue;  // not in this task
    const auto& a = scores_of(all, method).accuracy;
    const auto& b = scores_of(all, baseline).accuracy;
    const Estimate difference = paired_difference(a, b);
    json row = shape_json(shape);
    row["method"] = method;
    row["baseline"] = baseline;
    row["episodes"] = a.size();
    row["difference"] = difference.value;
    row["ci95"] = difference.ci95;
    row["better"] = share_better(a, b);
    row["worse"] = share_better(b, a);
    for (size_t i = 0; i < seeds.size() && seeds.size() > 1; ++i) {
      const auto& of_seed = seeds[i].methods;
      const Estimate part =
          paired_difference(scores_of(of_seed, method).accuracy, scores_of(of_seed, baseline).accuracy);
      row["per_seed"].push_back({{"seed", seeds[i].seed}, {"difference", part.value}, {"ci95", part.ci95}});
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::string signed_text(double value, int decimals) {
  const double unit = std::pow(10.0, -decimals);
  if (std::abs(value) < unit / 2) return fmt::format("{:.{}f}", 0.0, decimals);
  return fmt::format("{:+.{}f}", value, decimals);
}

}  // namespace protocom
