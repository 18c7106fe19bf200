#include "report/interval_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "protocom/report/svg.h"

namespace protocom {

Verdict verdict_of(const Estimate& difference, double least) {
  const double size = std::abs(difference.value);
  if (size < least || size <= difference.ci95) return Verdict::kUnclear;
  return difference.value > 0 ? Verdict::kMore : Verdict::kLess;
}

Estimate difference_of(const Estimate& a, const Estimate& b) { return {a.value - b.value, std::hypot(a.ci95, b.ci95)}; }

namespace {

std::string by_points(const char* verb, const Estimate& change) {
  return fmt::format("{} {:.1f} ± {:.1f} points", verb, std::abs(change.value), change.ci95);
}

}  // namespace

std::string change_words(const Estimate& change) {
  const Verdict verdict = verdict_of(change);
  if (verdict == Verdict::kUnclear) return "does not change measurably";
  return by_points(verdict == Verdict::kMore ? "gains" : "loses", change);
}

std::string worth_words(const Estimate& worth) {
  const Verdict verdict = verdict_of(worth);
  if (verdict == Verdict::kUnclear) return "adds nothing measurable";
  return by_points(verdict == Verdict::kMore ? "adds" : "costs", worth);
}

std::string signed_interval(const Estimate& change, int decimals) {
  const std::string digits = format_number(change.value, decimals);
  const bool zero = digits.find_first_not_of("0.") == std::string::npos;
  return fmt::format("{}{} ± {:.{}f}", change.value > 0 && !zero ? "+" : "", digits, change.ci95, decimals);
}

namespace {

/// Places by falling value, equal ones as they come.
std::vector<size_t> best_first(const std::vector<Estimate>& values) {
  std::vector<size_t> places(values.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) { return values[a].value > values[b].value; });
  return places;
}

}  // namespace

std::vector<size_t> not_measurably_below_best(const std::vector<Estimate>& values) {
  std::vector<size_t> places = best_first(values);
  const Estimate& best = values[places.front()];
  const auto below = std::find_if(places.begin(), places.end(),
                                  [&](size_t i) { return values[i].value + values[i].ci95 < best.value - best.ci95; });
  places.erase(below, places.end());
  return places;
}

std::vector<size_t> not_measurably_below_best(const std::vector<std::vector<double>>& episodes, double least) {
  std::vector<Estimate> means;
  for (const auto& own : episodes) means.push_back(estimate(own));
  std::vector<size_t> places = best_first(means);
  const std::vector<double>& best = episodes[places.front()];
  const auto below = [&](size_t i) {
    return best.size() > 1 && verdict_of(paired_difference(best, episodes[i]), least) == Verdict::kMore;
  };
  places.erase(std::remove_if(places.begin(), places.end(), below), places.end());
  return places;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 3;
  const bool all = names.size() <= kMost;
  std::string text;
  for (size_t i = 0; i < (all ? names.size() : kMost - 1); ++i) {
    const bool last = all && i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  return all ? text : fmt::format("{} and {} others", text, names.size() - kMost + 1);
}

}  // namespace protocom
