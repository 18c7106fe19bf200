#pragma once
#include <string>
#include <vector>

#include "protocom/eval/analysis_sweep.h"
#include "protocom/report/section.h"

namespace protocom {

/// "57.53 ± 0.78"
std::string percent_cell(const Estimate& estimate);

/// "mean, completed and mean-fusion": which of `methods` are transductive, and what that means.
std::string say_modes(const std::vector<std::string>& methods);

/// The methods of a series, in order.
std::vector<std::string> methods_in(const std::vector<SeriesPoint>& points);

/// The method that the gains of a series are over: the one that has none anywhere; "" where none is such.
std::string baseline_in(const std::vector<SeriesPoint>& points);

/// The points with a labelled image; gains of the others are over chance.
std::vector<SeriesPoint> without_chance(const std::vector<SeriesPoint>& points);

/// A table of what knowledge adds to each method that is there with and without it, if there is one.
void add_knowledge_table(const std::vector<SeriesPoint>& points, const std::string& x_prefix, int x_decimals,
                         Section& section);

/// Accuracy of every method against x.
LineChart accuracy_chart_of(const std::vector<SeriesPoint>& points, const std::string& id, const std::string& title,
                            const std::string& x_label);

/// How much more accurate every other method is than the baseline on the same episodes, against x.
LineChart gain_chart_of(const std::vector<SeriesPoint>& points, const std::string& id, const std::string& x_label);

/// A row for each method, a column for each x; transposed when that would be too wide.
ReportTable accuracy_table_of(const std::vector<SeriesPoint>& points, const std::string& caption,
                              const std::string& x_prefix, int x_decimals);

}  // namespace protocom
