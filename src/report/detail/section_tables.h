#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "eval/analysis_sweep.h"
#include "report/analysis_sections.h"
#include "report/section.h"

namespace protocom {

/// Returns "57.5 ± 0.8".
std::string percent_cell(const Estimate& estimate);

/// Returns "+0.052 ± 0.011".
std::string signed_cell(const Estimate& change, int decimals = 1);

/// Returns such a cell for the difference of two methods on the same episodes; "–" for one episode, which has no
/// interval.
std::string paired_cell(const std::vector<double>& own, const std::vector<double>& other, int decimals = 1);

/// Returns whether the interval excludes 0 and the difference does not round to 0 at one decimal.
bool is_significant(const Estimate& change);

/// Returns "+3.2 ± 0.4 points vs mean", "+0.2 ± 0.4 points vs mean, not significant"; the change alone without
/// `compared`.
std::string points_words(const Estimate& change, const std::string& compared = "");

/// Returns the index of the largest value. Needs at least one.
size_t place_of_largest(const std::vector<double>& values);

/// Returns "All methods are inductive", or which of `methods` are transductive, and what that means.
std::string say_modes(const std::vector<std::string>& methods);

/// Says whose single answers a section shows: "Answers of plda (inductive), the most accurate inductive method here. "
std::string say_analysed(const std::string& method, const Analysed& analysed);

/// Returns the methods of results, each once, in order.
template <typename Result>
std::vector<std::string> methods_in(const std::vector<Result>& results) {
  std::vector<std::string> methods;
  for (const Result& result : results) {
    if (std::find(methods.begin(), methods.end(), result.method) == methods.end()) methods.push_back(result.method);
  }
  return methods;
}

/// Returns the baseline of the gains of a series: the method that has none anywhere; "" if there is none.
std::string baseline_in(const std::vector<SeriesPoint>& points);

/// Returns the points with a labelled image; gains of the others are over chance.
std::vector<SeriesPoint> without_chance(const std::vector<SeriesPoint>& points);

/// Charts the accuracy of every method against x.
LineChart accuracy_chart_of(const std::vector<SeriesPoint>& points, const std::string& id, const std::string& title,
                            const std::string& x_label);

/// Charts the gain of every other method over the baseline on the same episodes, against x.
LineChart gain_chart_of(const std::vector<SeriesPoint>& points, const std::string& id, const std::string& x_label);

/// Format of x in a table: the prefix of its values ("K = ") and their decimals.
struct SeriesColumns {
  std::string prefix;
  int decimals = 0;
};

/// Makes a row for each method and a column for each x; transposed if that would be too wide.
ReportTable accuracy_table_of(const std::vector<SeriesPoint>& points, const std::string& caption,
                              const SeriesColumns& columns);

/// Adds a table of SeriesPoint::knowledge or SeriesPoint::change, which only some points have, if any has it.
void add_changes_table(const std::vector<SeriesPoint>& points, std::optional<Estimate> SeriesPoint::*which,
                       const std::string& caption, const SeriesColumns& columns, Section& section);

}  // namespace protocom
