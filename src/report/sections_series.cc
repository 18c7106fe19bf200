#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "report/analysis_sections.h"
#include "report/detail/section_tables.h"
#include "report/methods.h"

namespace protocom {
namespace {

/// Presentation of a series.
struct SeriesSpec {
  const char* name;
  const char* title;
  const char* by;       // "Accuracy by ..."
  const char* x_label;  // of the charts
  const char* symbol;   // of x
  int decimals;         // of x
  const char* how;      // what changes with x; what stays the same follows it
};

constexpr SeriesSpec kSeries[] = {
    {"shots", "Shots: when completion helps (Zhang et al. 2021, figure 3a)", "shots", "labelled images per class, K",
     "K", 0, "K labelled images per class; otherwise "},
    {"noise", "Wrong knowledge (Zhang et al. 2021, table 5)", "noise level γ", "noise level γ", "γ", 1,
     "Each attribute of a class is flipped with probability γ; mean over the draws of the noise; embeddings made from "
     "the attributes change with them. The model is not trained again. "},
    {"ways", "More classes per task", "classes", "classes, n", "n", 0, "n classes per episode; otherwise "},
    {"queries", "How many queries transductive methods need", "queries", "queries of an episode", "q", 0,
     "q queries per episode, as many of each class (a single query is of one of them); otherwise "},
    {"imbalance", "Queries that are not balanced", "imbalance", "1 / α of Dirichlet(α); 0: balanced", "1/α", 1,
     "The classes' shares of the queries are drawn from Dirichlet(α, ..., α): with α = 0.1 most queries are of one or "
     "two classes. "},
    {"base-classes", "Base classes that methods are fitted on", "base classes", "base classes", "c", 0,
     "Methods are fitted again on some of the base classes; encoder, knowledge and episodes stay the same. "},
    {"unlabelled", "How many unlabelled images fusion needs", "unlabelled images per class",
     "unlabelled images per class", "u", 0,
     "u unlabelled images of each of the episode's classes, disjoint from the queries that are scored "
     "(semi-supervised): every u is scored on the same queries. "}};

const SeriesSpec& spec_named(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kSeries), std::end(kSeries), [&](const SeriesSpec& spec) { return spec.name == name; });
  if (found == std::end(kSeries)) fail("no analysis '{}' is a series", name);
  return *found;
}

/// Returns whether it is row (ii) of the paper: completed prototypes.
bool is_completion(const MethodSpec& spec) { return spec.paper_row == 2; }

/// Returns whether a class may be placed by its description, without an image (plda).
bool takes_descriptions(const MethodSpec& spec) { return spec.fewest_shots == 0 && spec.sees == Sees::kEachQueryAlone; }

/// Returns the method that the line is about: one that uses unlabelled images if any does, else one for which
/// descriptions suffice, completed prototypes or the last one.
std::string lead_method(const std::vector<SeriesPoint>& points, const std::string& baseline) {
  const auto among = [&](auto is_it) {
    const auto found = std::find_if(points.begin(), points.end(),
                                    [&](const SeriesPoint& point) { return point.method != baseline && is_it(point); });
    return found == points.end() ? std::string() : found->method;
  };
  std::string lead = among([](const SeriesPoint& point) { return point.mode == "semi-supervised"; });
  for (const auto& leads : {takes_descriptions, is_completion}) {
    if (!lead.empty()) return lead;
    lead = among([&](const SeriesPoint& point) {
      const MethodSpec* spec = spec_of(point.method);
      return spec != nullptr && leads(*spec);
    });
  }
  return lead.empty() ? methods_in(points).back() : lead;
}

/// Returns "plda: 59.0 ± 0.5 % at K = 1 (+6.1 ± 0.8 points vs mean), 75.0 ± 0.4 % at K = 20 (...)."
std::string ends_line(const std::vector<SeriesPoint>& points, const SeriesSpec& spec) {
  const std::string baseline = baseline_in(points);
  const auto own = points_of(points, lead_method(points, baseline));
  const auto at = [&](const SeriesPoint& point) {
    const bool compared = !baseline.empty() && point.method != baseline;
    return fmt::format("{}\u00a0% at {}\u00a0=\u00a0{}{}", percent_cell(point.accuracy), spec.symbol,
                       format_number(point.x, spec.decimals),
                       compared ? fmt::format(" ({})", points_words(point.gain, baseline)) : "");
  };
  const SeriesPoint& last = own.back();
  std::string line = method_label(last.method, last.mode) + ": " + at(own.front());
  if (own.size() > 1) line += ", " + at(last);
  if (own.size() > 1 && last.change) line += fmt::format("; change {}", points_words(*last.change));
  return line + ".";
}

/// Returns where the curve of completed prototypes crosses that of the class mean (figure 3a), if they differ
/// significantly before and after.
std::optional<double> significant_crossing(const std::vector<SeriesPoint>& points) {
  const auto own = points_of(points, "completed");
  const auto mean = points_of(points, "mean");
  const auto where = own.size() == mean.size() ? crossing(own, mean) : std::nullopt;
  if (!where) return std::nullopt;
  const auto differs = [&](bool before) {
    return std::any_of(own.begin(), own.end(), [&](const SeriesPoint& point) {
      return (point.x < *where) == before && is_significant(point.gain);
    });
  };
  return differs(true) && differs(false) ? where : std::nullopt;
}

}  // namespace

Section series_section(const std::string& name, const std::vector<SeriesPoint>& points,
                       const EpisodeOptions& episodes) {
  const SeriesSpec& spec = spec_named(name);
  const bool by_shots = name == "shots";
  const auto compared = by_shots ? without_chance(points) : points;
  const SeriesColumns columns{std::string(spec.symbol) + "\u00a0=\u00a0", spec.decimals};
  Section section{spec.name, spec.title};
  section.finding = ends_line(compared.empty() ? points : compared, spec);
  section.how = spec.how + say_episodes(episodes) + say_modes(methods_in(points));
  section.tables = {accuracy_table_of(points, std::string("Accuracy, %, by ") + spec.by, columns)};
  add_changes_table(points, &SeriesPoint::knowledge,
                    "What knowledge adds, points over the same method without it on the same episodes", columns,
                    section);
  add_changes_table(points, &SeriesPoint::change, "Change from the first column, points on the same episodes", columns,
                    section);
  LineChart accuracy =
      accuracy_chart_of(points, name + "-accuracy", std::string("Accuracy by ") + spec.by, spec.x_label);
  if (const auto where = by_shots ? significant_crossing(compared) : std::nullopt)
    accuracy.vertical = {{*where, fmt::format("equal at K = {:.1f}", *where)}};
  section.figures = {accuracy, gain_chart_of(compared, name + "-gain", spec.x_label)};
  return section;
}

}  // namespace protocom
