#include "eval/results_file.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json_text.h"
#include "eval/results_json.h"
#include "io/json.h"

namespace protocom {
namespace {

using nlohmann::json;

template <typename T>
T field(const json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) fail("{}: missing '{}': expected a file of `protocom evaluate --json`", where, key);
  try {
    if constexpr (std::is_integral_v<T>) return whole_number<T>(*found);
    return found->get<T>();
  } catch (const json::exception&) {
    fail("{}: '{}' is {}, out of range", where, key, excerpt(json_text(*found)));
  }
}

std::optional<Estimate> read_cosine(const json& result, const std::string& where) {
  const auto found = result.find("cosine");
  if (found == result.end() || found->is_null()) return std::nullopt;
  Estimate cosine{field<double>(result, "cosine", where), 0.0};
  if (result.contains("cosine_ci95") && !result.at("cosine_ci95").is_null())
    cosine.ci95 = field<double>(result, "cosine_ci95", where);
  return cosine;
}

std::string read_task(const json& object, const MethodResult& result, const std::string& where) {
  EpisodeShape shape;
  shape.n_way = result.n_way;
  shape.k_shot = result.k_shot;
  shape.most_shots = result.most_shots;
  if (object.contains("unlabelled")) shape.unlabelled = field<int64_t>(object, "unlabelled", where);
  if (object.contains("alpha")) {
    shape.query_distribution = QueryDistribution::kDirichlet;
    shape.alpha = object.value("alpha", shape.alpha);
  }
  return describe(shape);
}

void check(const MethodResult& result, const std::string& where) {
  if (result.mode != "inductive" && result.mode != "transductive" && result.mode != "semi-supervised") {
    fail("{}: unknown mode '{}': expected inductive, transductive or semi-supervised", where, excerpt(result.mode));
  }
  if (!(result.accuracy.value >= 0.0 && result.accuracy.value <= 100.0)) {
    fail("{}: accuracy {} is out of range 0 to 100", where, result.accuracy.value);
  }
  if (!(result.accuracy.ci95 >= 0.0 && result.accuracy.ci95 <= 100.0))
    fail("{}: the interval {} is out of range", where, result.accuracy.ci95);
  if (result.cosine && !(std::abs(result.cosine->value) <= 1.0 + 1e-6 && std::abs(result.cosine->ci95) <= 2.0))
    fail("{}: cosine {} is out of range -1 to 1", where, result.cosine->value);
  for (const double accuracy : result.per_episode) {
    if (!(accuracy >= 0.0 && accuracy <= 100.0)) fail("{}: accuracy {} is out of range 0 to 100", where, accuracy);
  }
  if (result.n_way < 2 || result.k_shot < 0)
    fail("{}: {}-way {}-shot is out of range", where, result.n_way, result.k_shot);
}

MethodResult parse_result(const json& object, const std::string& where) {
  if (!object.is_object()) fail("{} is not an object", where);
  MethodResult result;
  result.method = field<std::string>(object, "method", where);
  result.mode = field<std::string>(object, "mode", where);
  result.n_way = field<int64_t>(object, "n_way", where);
  result.k_shot = field<int64_t>(object, "k_shot", where);
  if (object.contains("k_shot_max")) result.most_shots = field<int64_t>(object, "k_shot_max", where);
  result.n_query = object.contains("n_query") ? field<int64_t>(object, "n_query", where) : 0;
  result.episodes = field<int64_t>(object, "episodes", where);
  result.accuracy = {field<double>(object, "accuracy", where), field<double>(object, "ci95", where)};
  result.cosine = read_cosine(object, where);
  if (object.contains("per_episode")) result.per_episode = field<std::vector<double>>(object, "per_episode", where);
  if (object.contains("episodes_per_second"))
    result.episodes_per_second = field<double>(object, "episodes_per_second", where);
  result.task = read_task(object, result, where);
  check(result, where);
  return result;
}

}  // namespace

std::vector<const MethodResult*> Evaluation::of(const std::string& task) const {
  std::vector<const MethodResult*> rows;
  for (const MethodResult& result : results) {
    if (result.task == task) rows.push_back(&result);
  }
  return rows;
}

std::vector<std::pair<std::string, std::string>> Evaluation::methods() const {
  std::vector<std::pair<std::string, std::string>> found;
  for (const MethodResult& result : results) {
    const std::pair<std::string, std::string> method = {result.method, result.mode};
    if (std::find(found.begin(), found.end(), method) == found.end()) found.push_back(method);
  }
  std::stable_partition(found.begin(), found.end(), [](const auto& method) { return method.second == "inductive"; });
  return found;
}

std::string Evaluation::dataset_name() const {
  const auto found = dataset.find("features");
  const bool has_name = found != dataset.end() && found->is_string();
  return std::filesystem::path(has_name ? found->get<std::string>() : name).stem().string();
}

namespace {

Evaluation parse(const json& parsed, const std::string& name) {
  if (!parsed.is_object()) fail("{} is not a JSON object: expected a file of `protocom evaluate --json`", name);
  Evaluation evaluation;
  evaluation.name = name;
  evaluation.header = parsed.value("header", json::object());
  evaluation.dataset = parsed.value("dataset", json::object());
  if (!evaluation.header.is_object()) fail("{}: 'header' is not an object", name);
  if (!evaluation.dataset.is_object()) fail("{}: 'dataset' is not an object", name);
  if (parsed.contains("command")) evaluation.command = field<std::string>(parsed, "command", name);
  if (parsed.contains("episodes_hash")) evaluation.episodes_hash = field<std::string>(parsed, "episodes_hash", name);
  evaluation.checks = parsed.value("checks", json());
  evaluation.baseline = parsed.value("baseline", evaluation.baseline);
  if (parsed.contains("findings")) evaluation.findings = field<std::vector<std::string>>(parsed, "findings", name);
  const auto results = field<std::vector<json>>(parsed, "results", name);
  if (results.empty()) fail("{} has no results to report", name);
  for (size_t i = 0; i < results.size(); ++i) {
    evaluation.results.push_back(parse_result(results[i], fmt::format("{}: results[{}]", name, i)));
  }
  return evaluation;
}

}  // namespace

Evaluation parse_evaluation(const json& parsed, const std::string& name) {
  try {
    return parse(parsed, name);
  } catch (const json::exception& error) {
    fail("{} is damaged: {}", name, reason_of(error));
  }
}

Evaluation read_evaluation(const std::filesystem::path& path) {
  return parse_evaluation(read_json(path), path.string());
}

Estimate gain_over(const MethodResult& result, const MethodResult& baseline) {
  const size_t n = result.per_episode.size();
  if (n < 2 || baseline.per_episode.size() != n) {
    return {result.accuracy.value - baseline.accuracy.value, std::hypot(result.accuracy.ci95, baseline.accuracy.ci95)};
  }
  return paired_difference(result.per_episode, baseline.per_episode);
}

}  // namespace protocom
