#include "report/interval_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace protocom {

Verdict verdict_of(const Estimate& difference) {
  constexpr double kShown = 0.05;  // half of the last decimal
  const double size = std::abs(difference.value);
  if (size < kShown || size <= difference.ci95) return Verdict::kUnclear;
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

std::vector<size_t> not_measurably_below_best(const std::vector<Estimate>& values) {
  std::vector<size_t> places(values.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) { return values[a].value > values[b].value; });
  const Estimate& best = values[places.front()];
  const auto below = std::find_if(places.begin(), places.end(),
                                  [&](size_t i) { return values[i].value + values[i].ci95 < best.value - best.ci95; });
  places.erase(below, places.end());
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
