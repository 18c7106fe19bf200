#include <fmt/format.h>

#include <algorithm>

#include "protocom/report/analysis_sections.h"
#include "protocom/report/methods.h"
#include "report/section_words.h"

namespace protocom {
namespace {

std::string tenths(double value) { return fmt::format("{:.1f}", value); }

template <typename Result>
std::vector<std::string> methods_of(const std::vector<Result>& results) {
  std::vector<std::string> methods;
  for (const Result& one : results) {
    if (std::find(methods.begin(), methods.end(), one.method) == methods.end()) methods.push_back(one.method);
  }
  return methods;
}

std::string say_tasks(const EpisodeOptions& episodes) {
  return fmt::format("{} episodes of {} {} classes, {} queries a class, seed {}.", episodes.count, episodes.shape.n_way,
                     to_string(episodes.split), episodes.shape.n_query, episodes.seed);
}

}  // namespace

Section open_set_section(const std::vector<OpenSetResult>& results, const OpenSetOptions& options) {
  Section section{"unseen", "None of these: images of classes that were not given", "", "", {}, {}};
  const auto best =
      std::max_element(results.begin(), results.end(), [](const auto& a, const auto& b) { return a.area < b.area; });
  section.finding = fmt::format(
      "With {:.0f} labelled image{} a class, {} tells images of the given classes from those of others with an area "
      "under the ROC curve of {:.2f}; where 95 % of the former are accepted, so are {:.0f} % of the latter.",
      best->shots, best->shots == 1 ? "" : "s", method_label(best->method, best->mode), best->area, best->false_accept);
  section.how = fmt::format(
                    "{} As many queries of {} further classes come among them. The score is 1 − P(none) where the "
                    "method has a model of classes that it was not given, else the highest probability of a class. The "
                    "calibration error is that of the answer, which may be “none” in the first case.",
                    say_tasks(options.episodes), options.others) +
                say_modes(methods_of(results));
  ReportTable table{"Area under the ROC curve, false-accept rate at 95 % recall, expected calibration error in points",
                    {"Method", "K", "Accuracy of given classes", "AUROC", "False accepts, %", "Calibration error"},
                    {}};
  for (const OpenSetResult& one : results) {
    table.rows.push_back({method_label(one.method, one.mode), fmt::format("{:.0f}", one.shots),
                          percent_cell(one.accuracy), fmt::format("{:.3f}", one.area), tenths(one.false_accept),
                          tenths(100 * one.expected_error)});
  }
  section.tables = {table};
  return section;
}

Section generalised_section(const std::vector<GeneralisedResult>& results, const GeneralisedOptions& options) {
  Section section{"generalised", "Novel and base classes together", "", "", {}, {}};
  const auto accuracy = [](const GeneralisedResult& one) {
    return one.corrected ? one.corrected->accuracy : one.accuracy;
  };
  const auto best = std::max_element(results.begin(), results.end(), [&](const auto& a, const auto& b) {
    return accuracy(a).harmonic.value < accuracy(b).harmonic.value;
  });
  const bool corrected = best->corrected.has_value();
  section.finding = fmt::format(
      "Told apart from all base classes as well, novel classes of {:.0f} labelled image{} are recognised in {:.0f} % "
      "of cases by {}{}, base classes in {:.0f} % (harmonic mean {:.1f}).",
      best->shots, best->shots == 1 ? "" : "s", accuracy(*best).novel.value, method_label(best->method, best->mode),
      corrected ? " with an offset" : "", accuracy(*best).base.value, accuracy(*best).harmonic.value);
  section.how = fmt::format(
                    "{} Every base class has {} labelled images; half of the queries are of {} base classes. Backbone "
                    "and methods were trained on the base classes, those queries among them, so that the figures of "
                    "base classes are too good.",
                    say_tasks(options.episodes), options.base_shots, options.episodes.shape.n_way) +
                (corrected ? " The offset is added to the logits of all novel classes; it is the one with the best "
                             "harmonic mean where val classes take their place."
                           : "") +
                say_modes(methods_of(results));
  ReportTable table{"Accuracy among all classes, %",
                    {"Method", "K", "Offset of novel classes", "Novel", "Base", "Harmonic mean"},
                    {}};
  const auto add = [&](const GeneralisedResult& one, const std::string& offset, const GeneralisedAccuracy& reached) {
    table.rows.push_back({method_label(one.method, one.mode), fmt::format("{:.0f}", one.shots), offset,
                          percent_cell(reached.novel), percent_cell(reached.base), percent_cell(reached.harmonic)});
  };
  for (const GeneralisedResult& one : results) {
    add(one, "none", one.accuracy);
    if (one.corrected) add(one, fmt::format("{:.2f}", one.corrected->offset), one.corrected->accuracy);
  }
  section.tables = {table};
  return section;
}

}  // namespace protocom
