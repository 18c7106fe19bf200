#include "fewshot/plda/detail/knowledge_gain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "fewshot/plda/detail/choice.h"

namespace protocom {

namespace {

/// Returns the quantile of Student's t for a two-sided 95 % interval, within 1 % from 4 degrees on.
double student(int64_t degrees) {
  const auto n = static_cast<double>(std::max<int64_t>(degrees, 1));
  return 1.96 + 2.37 / n + 2.8 / (n * n);
}

/// The ratio of classes that a gain is measured on to new classes that it is predicted for: a user has fewer new
/// classes than the base collection.
constexpr double kClassesForEachNewOne = 2;

}  // namespace

GainOfClasses gain_of_classes(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without) {
  std::map<std::pair<int64_t, int64_t>, std::pair<double, int64_t>> sums;  // by part and class
  for (size_t i = 0; i < with.size(); ++i) {
    const std::vector<FloatMatrix> known = scores_of(with[i], inductive_scores);
    const std::vector<FloatMatrix> unknown = scores_of(without[i], inductive_scores);
    for (size_t t = 0; t < known.size(); ++t) {
      const HeldOutTask& task = with[i].tasks[t];
      const DoubleVector gain = 100 * (is_right(known[t], task) - is_right(unknown[t], task));
      for (int64_t q = 0; q < gain.size(); ++q) {
        const auto label = static_cast<size_t>(task.labels[static_cast<size_t>(q)]);
        auto& [sum, count] = sums[{with[i].part, task.classes[label]}];
        sum += gain[q];
        ++count;
      }
    }
  }
  DoubleVector all(static_cast<int64_t>(sums.size()));
  int64_t place = 0;
  for (const auto& entry : sums) all[place++] = entry.second.first / static_cast<double>(entry.second.second);
  // Measured on C classes and predicted for C / 2 others: s^2 / C + s^2 / (C / 2) = (1 + 2) s^2 / C.
  const double widened = std::sqrt(1 + kClassesForEachNewOne);
  return {all.mean(), student(all.size() - 1) * widened * standard_error(all)};
}

std::vector<KnowledgeGain> measure_gains(const std::vector<PldaTasks>& with, const std::vector<PldaTasks>& without) {
  std::map<int64_t, std::pair<std::vector<PldaTasks>, std::vector<PldaTasks>>> by_number;
  for (size_t i = 0; i < with.size(); ++i) {
    auto& [known, unknown] = by_number[with[i].k_shot];
    known.push_back(with[i]);
    unknown.push_back(without[i]);
  }
  std::vector<KnowledgeGain> gains;
  for (const auto& [k_shot, tasks] : by_number) {
    const double base = accuracies(tasks.second, inductive_scores).mean();
    const GainOfClasses gain = gain_of_classes(tasks.first, tasks.second);
    gains.push_back({k_shot, base, gain.mean, gain.mean - gain.ci95, gain.mean + gain.ci95});
  }
  return gains;
}

std::vector<KnowledgeGain> with_all_classes(std::vector<KnowledgeGain> gains, int64_t parts,
                                            const std::vector<KnowledgeGain>& of_fewer, int64_t fewer) {
  // A prior of p parts learns from (p - 1) / p of the classes. The gain is modelled as linear in the inverse of that
  // share, and extrapolated from the two measurements to 1: all classes.
  const auto inverse_share = [](int64_t p) { return static_cast<double>(p) / static_cast<double>(p - 1); };
  const double ahead = (inverse_share(parts) - 1) / (inverse_share(fewer) - inverse_share(parts));
  for (size_t i = 0; i < std::min(gains.size(), of_fewer.size()); ++i) {
    if (gains[i].k_shot == of_fewer[i].k_shot) gains[i].high += ahead * std::max(0.0, gains[i].gain - of_fewer[i].gain);
  }
  return gains;
}

bool knowledge_pays(const std::vector<KnowledgeGain>& gains) { return gains.empty() || gains.front().gain > 0; }

std::string knowledge_gain_sentence(const std::vector<KnowledgeGain>& gains) {
  std::string text;
  bool ever_costs = false;
  for (const KnowledgeGain& at : gains) {
    const bool adds = at.low > 0;
    const bool costs = at.high < 0;
    ever_costs = ever_costs || costs;
    text += text.empty() ? "Knowledge " : ", ";
    if (adds) text += fmt::format("adds {:.1f} to {:.1f} points", at.low, at.high);
    if (costs) text += fmt::format("costs {:.1f} to {:.1f} points", -at.high, -at.low);
    if (!adds && !costs) text += "adds nothing measurable";
    text += fmt::format(" with {} image{} per class ({:.1f} % without knowledge)", at.k_shot, at.k_shot > 1 ? "s" : "",
                        at.without);
  }
  if (text.empty()) return "";
  return text + ", on held-out classes." + (ever_costs ? " The method plda:prior=none ignores it." : "");
}

std::string knowledge_sentence(const PldaFit& fit) {
  if (fit.left_out)
    return "Knowledge did not help on held-out classes: the model was fitted without it. `fit --knowledge-use always` "
           "keeps it, as classes without images need.";
  if (!fit.model.knowledge) return "The model was fitted without knowledge of the classes.";
  if (!fit.strength) {
    return "Knowledge is not used: its effect could not be measured, which needs 4 base classes or 4 val classes.";
  }
  return fmt::format("Knowledge explains {:.0f} % of the variance between held-out classes.",
                     100 * std::max(0.0, fit.model.explained));
}

}  // namespace protocom
