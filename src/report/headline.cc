#include "protocom/report/headline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "protocom/eval/evaluation.h"
#include "protocom/fewshot/methods.h"
#include "protocom/report/svg.h"
#include "report/interval_words.h"

namespace protocom {
namespace {

std::string in_words(int64_t count) {
  static constexpr std::array<const char*, 11> kWords = {"no",  "one",   "two",   "three", "four", "five",
                                                         "six", "seven", "eight", "nine",  "ten"};
  return count >= 0 && count < static_cast<int64_t>(kWords.size()) ? kWords[static_cast<size_t>(count)]
                                                                   : std::to_string(count);
}

const MethodResult* best(const std::vector<const MethodResult*>& rows, bool (*keep)(const MethodResult&)) {
  const MethodResult* winner = nullptr;
  for (const MethodResult* row : rows) {
    if (keep(*row) && (winner == nullptr || row->accuracy.value > winner->accuracy.value)) winner = row;
  }
  return winner;
}

bool is_mean(const MethodResult& result) { return result.method == "mean"; }
bool of_one_query(const MethodResult& result) { return !is_mean(result) && result.mode == "inductive"; }
bool of_many_images(const MethodResult& result) { return !is_mean(result) && result.mode != "inductive"; }

std::string setting(const MethodResult& row) {
  const bool ragged = row.most_shots > row.k_shot;
  const std::string shots = in_words(row.k_shot) + (ragged ? " to " + in_words(row.most_shots) : "");
  const size_t comma = row.task.find(", ");  // "5-way 1-shot, dirichlet(2)"
  const std::string queries = comma == std::string::npos ? "" : " and queries drawn by " + row.task.substr(comma + 2);
  return fmt::format("From {} image{} a class, with {} classes to tell apart{}", shots,
                     row.k_shot == 1 && !ragged ? "" : "s", in_words(row.n_way), queries);
}

/// The best row of a kind that measurably beats the class mean; without one, or without a mean, the best of the kind.
const MethodResult* best_over(const MethodResult* mean, const std::vector<const MethodResult*>& rows,
                              bool (*keep)(const MethodResult&)) {
  std::vector<const MethodResult*> ahead;
  for (const MethodResult* row : rows) {
    if (mean != nullptr && verdict_of(gain_over(*row, *mean)) == Verdict::kMore) ahead.push_back(row);
  }
  const MethodResult* winner = best(ahead, keep);
  return winner != nullptr ? winner : best(rows, keep);
}

std::string with_mode(const MethodResult& row) { return fmt::format("{} ({})", row.method, row.mode); }

std::string plain(const MethodResult& row) {
  return fmt::format("{}, {} ({}) is right on {:.1f} % of the queries.", setting(row), row.method, row.mode,
                     row.accuracy.value);
}

std::string against_mean(const MethodResult& winner, const MethodResult& mean) {
  const Estimate gain = gain_over(winner, mean);
  if (verdict_of(gain) == Verdict::kMore) {
    return fmt::format("{}, {} is right on {:.1f} % of the queries: {:.1f} points more than the class mean.",
                       setting(winner), with_mode(winner), winner.accuracy.value, gain.value);
  }
  const bool is_worse = verdict_of(gain) == Verdict::kLess;
  return fmt::format(
      "{}, no {} method measurably beats the class mean, which is right on {:.1f} % of the queries: the best other "
      "one, {}, {} {} ± {:.1f} points.",
      setting(mean), winner.mode, mean.accuracy.value, winner.method, is_worse ? "loses" : "differs by",
      is_worse ? format_number(-gain.value, 1) : signed_points(gain.value), gain.ci95);
}

/// The rows with the fewest shots and the best of each kind among them.
struct Leaders {
  const MethodResult* mean = nullptr;
  const MethodResult* one_query = nullptr;
  const MethodResult* many_images = nullptr;

  /// What the headline is about: what a single photo gets, where that is known.
  [[nodiscard]] const MethodResult* first() const { return one_query != nullptr ? one_query : many_images; }
};

/// The results of the task with the fewest shots.
std::vector<const MethodResult*> fewest_shots(const Evaluation& evaluation) {
  const auto fewest = std::min_element(
      evaluation.results.begin(), evaluation.results.end(),
      [](const auto& a, const auto& b) { return std::pair(a.k_shot, a.n_way) < std::pair(b.k_shot, b.n_way); });
  return evaluation.of(fewest->task);
}

Leaders leaders(const Evaluation& evaluation) {
  const auto rows = fewest_shots(evaluation);
  const MethodResult* mean = best(rows, &is_mean);
  return {mean, best_over(mean, rows, &of_one_query), best_over(mean, rows, &of_many_images)};
}

}  // namespace

std::string signed_points(double value) {
  const std::string digits = format_number(value, 1);
  return value > 0.0 && digits != "0.0" ? "+" + digits : digits;
}

std::string headline(const Evaluation& evaluation) {
  const Leaders found = leaders(evaluation);
  const MethodResult* first = found.first();
  if (first != nullptr && found.mean != nullptr) return against_mean(*first, *found.mean);
  const MethodResult* alone = first != nullptr ? first : found.mean;
  return alone != nullptr ? plain(*alone) : "";
}

std::string caveat(const Evaluation& evaluation) {
  const Leaders found = leaders(evaluation);
  if (found.many_images == nullptr) return "";
  const MethodResult& other = *found.many_images;
  const char* what = other.mode == "transductive" ? "looks at all queries of an episode together"
                                                  : "uses unlabelled images of the episode's classes";
  const std::string text = fmt::format("{} {} ({})", other.method, what, other.mode);
  if (found.first() == &other) return text + ".";
  const std::string gain =
      found.mean == nullptr ? "" : fmt::format(" ({})", signed_points(gain_over(other, *found.mean).value));
  return text + fmt::format(" and is right on {:.1f} %{}.", other.accuracy.value, gain);
}

std::vector<std::string> worth_of_knowledge(const Evaluation& evaluation) {
  const auto rows = fewest_shots(evaluation);
  std::vector<std::string> labels;
  for (const MethodResult* row : rows) labels.push_back(row->method);
  const auto row_of = [&](const std::string& label) -> const MethodResult& {
    return *rows[static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin())];
  };
  std::vector<std::string> lines;
  for (const auto& [with, without] : knowledge_pairs(labels)) {
    const MethodResult& row = row_of(with);
    lines.push_back(fmt::format("Knowledge of the classes {} to {} in {} tasks.",
                                worth_words(gain_over(row, row_of(without))), with_mode(row), row.task));
  }
  for (const std::string& finding : evaluation.findings) {
    if (finding.rfind("Knowledge ", 0) == 0) lines.push_back(finding);
  }
  return lines;
}

}  // namespace protocom
