#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "eval/analysis_sweep.h"
#include "report/analysis_sections.h"
#include "report/section.h"

namespace protocom {

/// "57.5 ± 0.8"
std::string percent_cell(const Estimate& estimate);

/// "+0.052 ± 0.011"
std::string signed_cell(const Estimate& change, int decimals = 1);

/// The same of the differences of two methods on the same episodes; "–" of one episode, which has no interval.
std::string paired_cell(const std::vector<double>& own, const std::vector<double>& other, int decimals = 1);

/// Whether the interval leaves out 0, and the difference does not round to it at one decimal.
bool is_significant(const Estimate& change);

/// "+3.2 ± 0.4 points vs mean", "+0.2 ± 0.4 points vs mean, not significant"; of a change alone without `compared`.
std::string points_words(const Estimate& change, const std::string& compared = "");

/// The place of the largest value. At least one.
size_t place_of_largest(const std::vector<double>& values);

/// "All methods are inductive", or which of `methods` are transductive, and what that means.
std::string say_modes(const std::vector<std::string>& methods);

/// "Answers of plda (inductive), the most accurate inductive method here. ": whose single answers a section is about.
std::string say_analysed(const std::string& method, const Analysed& analysed);

/// The methods of results, each once, in order.
template <typename Result>
std::vector<std::string> methods_in(const std::vector<Result>& results) {
  std::vector<std::string> methods;
  for (const Result& result : results) {
    if (std::find(methods.begin(), methods.end(), result.method) == methods.end()) methods.push_back(result.method);
  }
  return methods;
}

/// The method that the gains of a series are over: the one that has none anywhere; "" if none is such.
std::string baseline_in(const std::vector<SeriesPoint>& points);

/// The points with a labelled image; gains of the others are over chance.
std::vector<SeriesPoint> without_chance(const std::vector<SeriesPoint>& points);

/// Accuracy of every method against x.
LineChart accuracy_chart_of(const std::vector<SeriesPoint>& points, const std::string& id, const std::string& title,
                            const std::string& x_label);

/// How much more accurate every other method is than the baseline on the same episodes, against x.
LineChart gain_chart_of(const std::vector<SeriesPoint>& points, const std::string& id, const std::string& x_label);

/// How x is named in a table: the prefix of its values ("K = ") and their decimals.
struct SeriesColumns {
  std::string prefix;
  int decimals = 0;
};

/// A row for each method, a column for each x; transposed when that would be too wide.
ReportTable accuracy_table_of(const std::vector<SeriesPoint>& points, const std::string& caption,
                              const SeriesColumns& columns);

/// A table of what only some points have, SeriesPoint::knowledge or SeriesPoint::change, if any has it.
void add_changes_table(const std::vector<SeriesPoint>& points, std::optional<Estimate> SeriesPoint::*which,
                       const std::string& caption, const SeriesColumns& columns, Section& section);

}  // namespace protocom
