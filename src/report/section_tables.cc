#include "report/detail/section_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <set>

#include "report/methods.h"
#include "report/svg.h"

namespace protocom {
namespace {

/// Turns rows into columns; the corner stays empty.
ReportTable transposed(const ReportTable& table) {
  ReportTable turned{table.caption, {""}};
  for (const auto& row : table.rows) turned.columns.push_back(row.front());
  for (size_t c = 1; c < table.columns.size(); ++c) {
    turned.rows.push_back({table.columns[c]});
    for (const auto& row : table.rows) turned.rows.back().push_back(row[c]);
  }
  return turned;
}

/// Makes a row for each method and a column for each x, with one cell per point.
ReportTable table_of(const std::vector<SeriesPoint>& points, const std::string& caption, const SeriesColumns& columns,
                     const std::function<std::string(const SeriesPoint&)>& cell) {
  constexpr size_t kMostColumns = 6;
  const std::vector<std::string> methods = methods_in(points);
  ReportTable table{caption, {"Method"}};
  std::set<double> places;
  for (const SeriesPoint& point : points) places.insert(point.x);
  for (const double x : places) table.columns.push_back(columns.prefix + format_number(x, columns.decimals));
  for (const std::string& method : methods) {
    const auto own = points_of(points, method);
    table.rows.push_back({method_label(method, own.back().mode)});
    for (const double x : places) {
      const auto found = std::find_if(own.begin(), own.end(), [x](const SeriesPoint& point) { return point.x == x; });
      table.rows.back().push_back(found == own.end() ? "–" : cell(*found));
    }
  }
  return table.columns.size() <= kMostColumns + 1 ? table : transposed(table);
}

}  // namespace

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> kNames = {
      "tables",    "ablation",     "cosine",     "shots",        "noise",         "ways",    "queries",
      "imbalance", "base-classes", "unlabelled", "distribution", "single-images", "nearest", "attention",
      "classes",   "calibration",  "unseen",     "generalised",  "episodes",      "failures"};
  return kNames;
}

std::string say_episodes(const EpisodeOptions& episodes) {
  const EpisodeShape& shape = episodes.shape;
  return fmt::format("{} episodes of {}-way {}-shot with {} queries per class, {} classes, seed {}.", episodes.count,
                     shape.n_way, shape.k_shot, shape.n_query, to_string(episodes.split), episodes.seed);
}

std::string percent_cell(const Estimate& estimate) {
  return fmt::format("{:.1f} ± {:.1f}", estimate.value, estimate.ci95);
}

std::string signed_cell(const Estimate& change, int decimals) {
  return fmt::format("{} ± {:.{}f}", signed_number(change.value, decimals), change.ci95, decimals);
}

std::string paired_cell(const std::vector<double>& own, const std::vector<double>& other, int decimals) {
  return own.size() < 2 ? "–" : signed_cell(paired_difference(own, other), decimals);
}

bool is_significant(const Estimate& change) {
  const double size = std::abs(change.value);
  return size > change.ci95 && size >= 0.05;
}

std::string points_words(const Estimate& change, const std::string& compared) {
  return fmt::format("{} points{}{}", signed_cell(change), compared.empty() ? "" : " vs " + compared,
                     is_significant(change) ? "" : ", not significant");
}

size_t place_of_largest(const std::vector<double>& values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

std::string say_modes(const std::vector<std::string>& methods) {
  std::vector<std::string> transductive;
  for (const std::string& method : methods) {
    const MethodSpec* spec = spec_of(method);
    if (spec != nullptr && spec->sees == Sees::kAllQueries) transductive.push_back(method);
  }
  if (transductive.empty()) return " All methods are inductive: each query is classified on its own.";
  const bool single = transductive.size() == 1;
  return fmt::format(" {} {} transductive: {} all queries of an episode, unlabelled; the others are inductive.",
                     fmt::join(transductive, ", "), single ? "is" : "are", single ? "it sees" : "they see");
}

std::string say_analysed(const std::string& method, const Analysed& analysed) {
  const MethodSpec* spec = spec_of(method);
  const std::string mode = spec == nullptr ? "" : std::string(spec->mode());
  const char* article = mode.rfind("inductive", 0) == 0 ? "an" : "a";
  std::string why;
  if (analysed == Analysed::kMostAccurate) why = fmt::format(", the most accurate {} method here", mode);
  if (analysed == Analysed::kNamed) why = fmt::format(", {} {} method, as requested", article, mode);
  if (analysed == Analysed::kOnly) why = fmt::format(", {} {} method", article, mode);
  return fmt::format("Answers of {}{}. ", method, why);
}

std::string baseline_in(const std::vector<SeriesPoint>& points) {
  std::vector<std::string> found = methods_in(points);
  for (const SeriesPoint& point : without_chance(points)) {
    if (point.gain.value != 0 || point.gain.ci95 != 0)
      found.erase(std::remove(found.begin(), found.end(), point.method), found.end());
  }
  if (std::find(found.begin(), found.end(), "mean") != found.end()) return "mean";
  return found.empty() ? "" : found.front();
}

std::vector<SeriesPoint> without_chance(const std::vector<SeriesPoint>& points) {
  std::vector<SeriesPoint> kept;
  std::copy_if(points.begin(), points.end(), std::back_inserter(kept),
               [](const SeriesPoint& point) { return point.x > 0; });
  return kept;
}

LineChart accuracy_chart_of(const std::vector<SeriesPoint>& points, const std::string& id, const std::string& title,
                            const std::string& x_label) {
  LineChart chart;
  chart.id = id;
  chart.title = title;
  chart.x_label = x_label;
  chart.y_label = "accuracy, %";
  const auto methods = methods_in(points);
  const auto colours = method_classes(methods);
  for (size_t m = 0; m < methods.size(); ++m) {
    const auto own = points_of(points, methods[m]);
    LineSeries series{method_label(methods[m], own.back().mode), colours[m], {}, {}, {}};
    for (const SeriesPoint& point : own) {
      series.x.push_back(point.x);
      series.y.push_back(point.accuracy.value);
      series.interval.push_back(point.accuracy.ci95);
    }
    chart.series.push_back(series);
  }
  return chart;
}

LineChart gain_chart_of(const std::vector<SeriesPoint>& points, const std::string& id, const std::string& x_label) {
  const std::string baseline = baseline_in(points);
  std::vector<SeriesPoint> gains;
  for (SeriesPoint point : points) {
    if (point.method == baseline) continue;
    point.accuracy = point.gain;
    gains.push_back(point);
  }
  LineChart chart = accuracy_chart_of(
      gains, id, fmt::format("Gain over {}", baseline == "mean" ? "the class mean" : baseline), x_label);
  chart.y_label = fmt::format("points over {}, same episodes", baseline);
  return chart;
}

ReportTable accuracy_table_of(const std::vector<SeriesPoint>& points, const std::string& caption,
                              const SeriesColumns& columns) {
  return table_of(points, caption, columns, [](const SeriesPoint& point) { return percent_cell(point.accuracy); });
}

void add_changes_table(const std::vector<SeriesPoint>& points, std::optional<Estimate> SeriesPoint::*which,
                       const std::string& caption, const SeriesColumns& columns, Section& section) {
  std::vector<SeriesPoint> changes;
  std::copy_if(points.begin(), points.end(), std::back_inserter(changes),
               [which](const SeriesPoint& point) { return (point.*which).has_value(); });
  // A method without any change would have an uninformative row of zeros.
  for (const std::string& method : methods_in(changes)) {
    const auto own = points_of(changes, method);
    const auto is_zero = [which](const SeriesPoint& point) {
      return (point.*which)->value == 0 && (point.*which)->ci95 == 0;
    };
    if (!std::all_of(own.begin(), own.end(), is_zero)) continue;
    changes.erase(std::remove_if(changes.begin(), changes.end(),
                                 [&](const SeriesPoint& point) { return point.method == method; }),
                  changes.end());
  }
  if (changes.empty()) return;
  const auto cell = [which](const SeriesPoint& point) { return signed_cell(*(point.*which)); };
  section.tables.push_back(table_of(changes, caption, columns, cell));
}

}  // namespace protocom
