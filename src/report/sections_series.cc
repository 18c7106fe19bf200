#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "protocom/report/analysis_sections.h"
#include "protocom/report/methods.h"
#include "report/method_of.h"
#include "report/section_words.h"

namespace protocom {
namespace {

/// The sentence about the crossing of completed and mean prototypes, and the dashed line for it.
std::string find_crossing(const std::vector<SeriesPoint>& mean, const std::vector<SeriesPoint>& completed,
                          LineChart& chart) {
  const auto where = crossing(completed, mean);
  if (!where) {
    const bool above = completed.front().accuracy.value > mean.front().accuracy.value;
    return fmt::format("Completed prototypes stay {} the class mean from {:.0f} to {:.0f} shots.",
                       above ? "above" : "below", mean.front().x, mean.back().x);
  }
  chart.vertical = {{*where, fmt::format("equal at K = {:.1f}", *where)}};
  const bool falls = completed.front().accuracy.value > mean.front().accuracy.value;
  const double last = std::ceil(*where) - 1.0;
  const bool meets = last + 1.0 == *where;  // exactly at a number of shots
  return fmt::format("Completed prototypes are {} than the class mean up to {:.0f} shot{} and {}{} from {:.0f} on.",
                     falls ? "better" : "worse", last, last == 1.0 ? "" : "s", meets ? "equal or " : "",
                     falls ? "worse" : "better", last + 1.0);
}

const SeriesPoint& at(const std::vector<SeriesPoint>& points, const std::string& method, double x) {
  return *std::find_if(points.begin(), points.end(),
                       [&](const SeriesPoint& point) { return point.method == method && point.x == x; });
}

/// Whether the points of a method differ at all.
bool changes(const std::vector<SeriesPoint>& points, const std::string& method) {
  const auto own = points_of(points, method);
  return std::any_of(own.begin(), own.end(),
                     [&](const SeriesPoint& point) { return point.accuracy.value != own.front().accuracy.value; });
}

/// What a series is over, for one and for several.
struct Counted {
  const char* one;
  const char* many;

  [[nodiscard]] std::string of(double x) const { return fmt::format("{:.0f} {}", x, x == 1.0 ? one : many); }
};

/// The best method at an end of a series, and those whose intervals reach into its own.
struct BestAt {
  std::string names;
  const char* are = "is";
  double accuracy = 0;

  BestAt(const std::vector<SeriesPoint>& points, double x) {
    std::vector<SeriesPoint> here;
    std::copy_if(points.begin(), points.end(), std::back_inserter(here),
                 [x](const SeriesPoint& point) { return point.x == x; });
    std::stable_sort(here.begin(), here.end(),
                     [](const auto& a, const auto& b) { return a.accuracy.value > b.accuracy.value; });
    accuracy = here.front().accuracy.value;
    for (const SeriesPoint& point : here) {
      if (point.accuracy.value + point.accuracy.ci95 < accuracy - here.front().accuracy.ci95) break;
      if (!names.empty()) are = "are";
      names += (names.empty() ? "" : " and ") + method_label(point.method, point.mode);
    }
  }
};

std::string best_at_both_ends(const std::vector<SeriesPoint>& points, const Counted& what) {
  const double first = points.front().x;
  const double last = points.back().x;
  const BestAt begin(points, first);
  const BestAt end(points, last);
  if (begin.names == end.names) {
    return fmt::format("{} {} best at {} ({:.1f} %) and at {} ({:.1f} %).", begin.names, begin.are, what.of(first),
                       begin.accuracy, what.of(last), end.accuracy);
  }
  return fmt::format("{} {} best at {} ({:.1f} %), {} at {} ({:.1f} %).", begin.names, begin.are, what.of(first),
                     begin.accuracy, end.names, what.of(last), end.accuracy);
}

std::string from_to(const std::vector<SeriesPoint>& points, const std::string& method) {
  const auto own = points_of(points, method);
  return fmt::format("{} goes from {:.1f} to {:.1f} %", method, own.front().accuracy.value, own.back().accuracy.value);
}

/// How a sweep is shown.
struct SweepWords {
  std::string id;
  std::string title;
  std::string by;        // "Accuracy by ..."
  std::string x_label;   // of the charts
  std::string x_symbol;  // of the table's columns
  int decimals = 0;      // of x
};

/// Charts and table of a sweep, without its sentences.
Section sweep_section(const std::vector<SeriesPoint>& points, const SweepWords& words) {
  Section section{words.id, words.title, "", "", {}, {}};
  section.figures = {accuracy_chart_of(points, words.id + "-accuracy", "Accuracy by " + words.by, words.x_label),
                     gain_chart_of(points, words.id + "-gain", words.x_label)};
  section.tables = {
      accuracy_table_of(points, "Accuracy, %, by " + words.by, words.x_symbol + "\u00a0=\u00a0", words.decimals)};
  return section;
}

/// "gauss-fusion loses 12.3 points" of every method that is more than an interval worse at the last x than at the
/// first.
std::string losses_under_imbalance(const std::vector<SeriesPoint>& points) {
  std::string losses;
  for (const std::string& method : methods_in(points)) {
    const auto own = points_of(points, method);
    const double lost = own.front().accuracy.value - own.back().accuracy.value;
    if (lost <= own.front().accuracy.ci95 + own.back().accuracy.ci95) continue;
    losses += fmt::format("{}{} loses {:.1f} points", losses.empty() ? "" : ", ", method, lost);
  }
  return losses.empty() ? "No method here is measurably worse where queries are not balanced."
                        : fmt::format("Where queries are least balanced, {}.", losses);
}

}  // namespace

Section shots_section(const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes) {
  Section section{"shots", "Shots: when completion helps (figure 3a)", "", "", {}, {}};
  LineChart chart =
      accuracy_chart_of(points, "shots-accuracy", fmt::format("Accuracy by shots, {}-way", episodes.shape.n_way),
                        "labelled images a class, K");
  const auto mean = points_of(points, "mean");
  const auto completed = points_of(points, "completed");
  section.finding = mean.empty() || completed.empty() ? best_at_both_ends(points, {"shot", "shots"})
                                                      : find_crossing(mean, completed, chart);
  section.how =
      fmt::format(
          "{} episodes of {}-way for each K, {} queries a class, {} classes, seed {}; bands are 95 % intervals.",
          episodes.count, episodes.shape.n_way, episodes.shape.n_query, to_string(episodes.split), episodes.seed) +
      say_modes(methods_in(points));
  section.tables = {accuracy_table_of(points, "Accuracy, %, by shots", "K\u00a0=\u00a0", 0)};
  std::vector<SeriesPoint> with_images;  // without one there is no mean to be better than
  std::copy_if(points.begin(), points.end(), std::back_inserter(with_images),
               [](const SeriesPoint& point) { return point.x > 0; });
  section.figures = {chart, gain_chart_of(with_images, "shots-gain", chart.x_label)};
  return section;
}

Section noise_section(const std::vector<SeriesPoint>& points, const NoiseOptions& options,
                      const EpisodeOptions& episodes) {
  Section section{"noise", "Wrong knowledge (table 5)", "", "", {}, {}};
  const double least = options.gammas.front();
  const double most = options.gammas.back();
  std::string losses;
  for (const std::string& method : methods_in(points)) {
    if (!changes(points, method)) continue;
    const SeriesPoint& before = at(points, method, least);
    const std::string lost = format_number(before.accuracy.value - at(points, method, most).accuracy.value, 1);
    losses += fmt::format("{}{} loses {}", losses.empty() ? "" : ", ", method_label(method, before.mode),
                          lost == "0.0" ? "nothing" : lost + " points");
  }
  section.finding = losses.empty()
                        ? "No method here is affected by wrong knowledge."
                        : fmt::format("With every attribute flipped with probability {:g}, {}.", most, losses);
  section.how = fmt::format(
                    "An attribute that a class has is taken from it, and one that it lacks is given to it, with "
                    "probability γ; mean over {} draws of the noise. The model stays as it was trained. ",
                    options.draws) +
                say_episodes(episodes) + say_modes(methods_in(points));
  ReportTable table = accuracy_table_of(points, "Accuracy, %, by noise level γ", "γ\u00a0=\u00a0", 1);
  for (auto& row : table.rows) {
    if (row.front() == "completed") row.front() += " (w/o GaussFusion)";
    if (row.front().rfind("gauss-fusion", 0) == 0) row.front() = "gauss-fusion (transductive; w/ GaussFusion)";
  }
  section.tables = {table};
  section.figures = {accuracy_chart_of(points, "noise-accuracy", "Accuracy by knowledge noise", "noise level γ"),
                     gain_chart_of(points, "noise-gain", "noise level γ")};
  return section;
}

Section ways_section(const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes) {
  const double most = points.back().x;
  const auto methods = methods_in(points);
  Section section = sweep_section(points, {"ways", "More classes to tell apart", "classes", "classes, n", "n", 0});
  section.finding = fmt::format("From {:.0f} to {:.0f} classes {} and {}, where chance is {:.1f} %.", points.front().x,
                                most, from_to(points, methods.front()), from_to(points, methods.back()), 100.0 / most);
  section.how =
      fmt::format("{} episodes of {}-shot for each n, {} queries a class, {} classes, seed {}.", episodes.count,
                  episodes.shape.k_shot, episodes.shape.n_query, to_string(episodes.split), episodes.seed) +
      say_modes(methods);
  return section;
}

Section queries_section(const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes) {
  Section section = sweep_section(
      points, {"queries", "How many queries transductive methods need", "queries", "queries a class", "q", 0});
  section.finding = best_at_both_ends(points, {"query a class", "queries a class"});
  section.how =
      fmt::format("{} episodes of {}-way {}-shot for each number of queries, {} classes, seed {}.", episodes.count,
                  episodes.shape.n_way, episodes.shape.k_shot, to_string(episodes.split), episodes.seed) +
      say_modes(methods_in(points));
  return section;
}

Section imbalance_section(const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes) {
  Section section = sweep_section(points, {"imbalance", "Queries that are not balanced", "imbalance",
                                           "1 / \u03b1 of Dirichlet(\u03b1); 0: balanced", "1/\u03b1", 1});
  section.finding = losses_under_imbalance(points);
  section.how =
      "The classes' shares of the queries are drawn from Dirichlet(\u03b1, ..., \u03b1): with \u03b1 = 0.1 "
      "most queries are of one or two classes. " +
      say_episodes(episodes) + say_modes(methods_in(points));
  return section;
}

Section base_classes_section(const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes) {
  Section section = sweep_section(
      points, {"base-classes", "Base classes that methods are fitted on", "base classes", "base classes", "c", 0});
  section.finding = fmt::format("From {:.0f} to {:.0f} base classes {}.", points.front().x, points.back().x,
                                from_to(points, methods_in(points).back()));
  section.how = "What is fitted is fitted anew on some of the base classes; encoder, knowledge and episodes stay. " +
                say_episodes(episodes) + say_modes(methods_in(points));
  return section;
}

Section unlabelled_section(const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes) {
  Section section{"unlabelled", "How many unlabelled images fusion needs", "", "", {}, {}};
  std::vector<SeriesPoint> fused;
  for (const std::string& method : methods_in(points)) {
    const auto own = points_of(points, method);
    if (own.back().mode != "semi-supervised") continue;
    section.finding += fmt::format(
        "{}{} (semi-supervised) reaches {:.1f} % with {:.0f} unlabelled images a class, {:.1f} % with {:.0f}",
        section.finding.empty() ? "" : "; ", method, own.back().accuracy.value, own.back().x,
        own.front().accuracy.value, own.front().x);
    fused.insert(fused.end(), own.begin(), own.end());
  }
  section.finding += section.finding.empty() ? "No method here uses unlabelled images." : ".";
  section.how = say_episodes(episodes) +
                " The unlabelled images are of the episode's classes and disjoint from the queries that are scored "
                "(semi-supervised): every number of them is scored on the same queries.";
  section.figures = {
      accuracy_chart_of(points, "unlabelled-accuracy", "Accuracy by unlabelled images", "unlabelled images a class")};
  section.tables = {
      accuracy_table_of(fused.empty() ? points : fused, "Accuracy, %, by unlabelled images a class", "", 0)};
  return section;
}

}  // namespace protocom
