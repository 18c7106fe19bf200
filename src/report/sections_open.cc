#include <fmt/format.h>

#include <algorithm>

#include "report/analysis_sections.h"
#include "report/detail/section_tables.h"
#include "report/methods.h"

namespace protocom {
namespace {

std::string tenths(double value) { return fmt::format("{:.1f}", value); }

std::string say_tasks(const EpisodeOptions& episodes) {
  return fmt::format("{} episodes of {} {} classes, {} queries per class, seed {}.", episodes.count,
                     episodes.shape.n_way, to_string(episodes.split), episodes.shape.n_query, episodes.seed);
}

/// Returns the results with the fewest labelled images, at least one image if there are any such.
template <typename Result>
std::vector<Result> from_fewest_shots(const std::vector<Result>& results) {
  double fewest = results.back().shots;
  for (const Result& result : results) {
    if (result.shots > 0) fewest = std::min(fewest, result.shots);
  }
  std::vector<Result> kept;
  std::copy_if(results.begin(), results.end(), std::back_inserter(kept),
               [&](const Result& result) { return result.shots == fewest; });
  return kept;
}

std::string best_rejection(const std::vector<OpenSetResult>& all) {
  const auto results = from_fewest_shots(all);
  std::vector<double> areas;
  for (const OpenSetResult& result : results) areas.push_back(result.area);
  const OpenSetResult& best = results[place_of_largest(areas)];
  return fmt::format(
      "Highest area under the ROC curve at K\u00a0=\u00a0{:.0f}: {}, {:.3f} ± {:.3f}; at 95\u00a0% recall it accepts "
      "{:.0f}\u00a0% of the others.",
      best.shots, method_label(best.method, best.mode), best.area, best.area_ci95, best.false_accept);
}

GeneralisedAccuracy accuracy_of(const GeneralisedResult& result) {
  return result.corrected ? result.corrected->accuracy : result.accuracy;
}

std::string best_among_all(const std::vector<GeneralisedResult>& all) {
  const auto results = from_fewest_shots(all);
  std::vector<double> means;
  for (const GeneralisedResult& result : results) means.push_back(accuracy_of(result).harmonic.value);
  const GeneralisedResult& best = results[place_of_largest(means)];
  const GeneralisedAccuracy reached = accuracy_of(best);
  return fmt::format("Highest harmonic mean at K\u00a0=\u00a0{:.0f}: {}{}, {} (novel {}\u00a0%, base {}\u00a0%).",
                     best.shots, method_label(best.method, best.mode), best.corrected ? " with an offset" : "",
                     percent_cell(reached.harmonic), percent_cell(reached.novel), percent_cell(reached.base));
}

}  // namespace

Section open_set_section(const std::vector<OpenSetResult>& results, const OpenSetOptions& options) {
  Section section{"unseen", "None of these: images of unknown classes"};
  section.finding = best_rejection(results);
  section.how = fmt::format(
                    "{} As many queries of {} other classes are added. The score is 1 − P(none) if the method models "
                    "unknown classes, else the highest probability of a class. The calibration error counts “none” as "
                    "an answer in the first case.",
                    say_tasks(options.episodes), options.others) +
                say_modes(methods_in(results));
  ReportTable table{"Area under the ROC curve, false-accept rate at 95 % recall, expected calibration error in points",
                    {"Method", "K", "Accuracy of given classes", "AUROC", "False accepts, %", "Calibration error"}};
  for (const OpenSetResult& result : results) {
    table.rows.push_back({method_label(result.method, result.mode), fmt::format("{:.0f}", result.shots),
                          percent_cell(result.accuracy), fmt::format("{:.3f} ± {:.3f}", result.area, result.area_ci95),
                          tenths(result.false_accept), tenths(100 * result.expected_error)});
  }
  section.tables = {table};
  return section;
}

Section generalised_section(const std::vector<GeneralisedResult>& results, const GeneralisedOptions& options) {
  Section section{"generalised", "Novel and base classes together"};
  section.finding = best_among_all(results);
  const bool corrected = results.front().corrected.has_value();
  section.how = fmt::format(
                    "{} Every base class has {} labelled images; half of the queries are of {} base classes. Backbone "
                    "and methods were trained on the base classes, including these queries, so the figures of base "
                    "classes are too high.",
                    say_tasks(options.episodes), options.base_shots, options.episodes.shape.n_way) +
                (corrected ? " The offset is added to the logits of all novel classes; it is chosen for the best "
                             "harmonic mean with val classes in their place."
                           : "") +
                say_modes(methods_in(results));
  ReportTable table{"Accuracy among all classes, %",
                    {"Method", "K", "Offset of novel classes", "Novel", "Base", "Harmonic mean"}};
  const auto add = [&](const GeneralisedResult& result, const std::string& offset, const GeneralisedAccuracy& reached) {
    table.rows.push_back({method_label(result.method, result.mode), fmt::format("{:.0f}", result.shots), offset,
                          percent_cell(reached.novel), percent_cell(reached.base), percent_cell(reached.harmonic)});
  };
  for (const GeneralisedResult& result : results) {
    add(result, "none", result.accuracy);
    if (result.corrected) add(result, fmt::format("{:.2f}", result.corrected->offset), result.corrected->accuracy);
  }
  section.tables = {table};
  return section;
}

}  // namespace protocom
