#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "protocom/report/analysis_sections.h"
#include "protocom/report/methods.h"
#include "report/interval_words.h"
#include "report/method_of.h"
#include "report/section_words.h"

namespace protocom {
namespace {

/// What a series is over, for one and for several.
struct Counted {
  const char* one;
  const char* many;

  [[nodiscard]] std::string of(double x) const { return fmt::format("{:.0f} {}", x, x == 1.0 ? one : many); }
  [[nodiscard]] std::string of(double first, double last) const {
    return first == last ? of(first) : fmt::format("{:.0f} to {:.0f} {}", first, last, many);
  }
};

/// Row (ii) of the paper: completed prototypes.
bool is_completion(const MethodSpec& spec) { return spec.paper_row == 2; }

/// A class may be placed by its description, without an image (plda).
bool takes_descriptions(const MethodSpec& spec) { return spec.fewest_shots == 0 && spec.sees == Sees::kEachQueryAlone; }

/// The method that a section is about first: one that descriptions are enough for, else completed prototypes; "" where
/// neither is there.
std::string lead_of(const std::vector<SeriesPoint>& points) {
  const std::string baseline = baseline_in(points);
  for (const auto& leads : {takes_descriptions, is_completion}) {
    for (const std::string& method : methods_in(points)) {
      const MethodSpec* spec = spec_of(method);
      if (spec != nullptr && leads(*spec) && method != baseline) return method;
    }
  }
  return "";
}

/// "better than the class mean with 1 to 2 shots, not measurably different with 3 shots": neighbours of one verdict
/// together.
std::string against_baseline(const std::vector<SeriesPoint>& own, const std::string& baseline, const Counted& what) {
  static const std::map<Verdict, std::pair<const char*, const char*>> kWords = {
      {Verdict::kMore, {"better", "than"}},
      {Verdict::kLess, {"worse", "than"}},
      {Verdict::kUnclear, {"not measurably different", "from"}}};
  std::string text;
  for (size_t i = 0; i < own.size();) {
    const Verdict verdict = verdict_of(own[i].gain);
    size_t end = i + 1;
    while (end < own.size() && verdict_of(own[end].gain) == verdict) ++end;
    const auto& [word, than] = kWords.at(verdict);
    text += text.empty() ? fmt::format("{} {} {}", word, than, baseline) : fmt::format(", {}", word);
    text += " with " + what.of(own[i].x, own[end - 1].x);
    i = end;
  }
  return text;
}

/// Where the curve of a method crosses that of the baseline, if it is measurably on one side before and on the other
/// after.
std::optional<double> measured_crossing(const std::vector<SeriesPoint>& own, const std::vector<SeriesPoint>& baseline) {
  const auto where = crossing(own, baseline);
  if (!where) return std::nullopt;
  const auto measured = [&](bool before) {
    return std::any_of(own.begin(), own.end(), [&](const SeriesPoint& point) {
      return (point.x < *where) == before && verdict_of(point.gain) != Verdict::kUnclear;
    });
  };
  return measured(true) && measured(false) ? where : std::nullopt;
}

/// "Knowledge adds 26.2 ± 0.9 points to plda with 0 shots, 5.9 ± 0.5 with 1 shot"; "" where nothing tells.
std::string what_knowledge_adds(const std::vector<SeriesPoint>& points, const Counted& what) {
  for (const std::string& method : methods_in(points)) {
    const auto own = points_of(points, method);
    if (!own.front().knowledge) continue;
    std::vector<const SeriesPoint*> told = {&own.front()};
    if (own.front().x == 0 && own.size() > 2) told.push_back(&own[1]);
    if (own.size() > 1) told.push_back(&own.back());
    std::string text;
    for (const SeriesPoint* point : told) {
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", worth_words(*point->knowledge),
                      text.empty() ? fmt::format("to {} with {}", method_label(method, point->mode), what.of(point->x))
                                   : "with " + what.of(point->x));
    }
    return fmt::format(" Knowledge {}.", text);
  }
  return "";
}

/// The best method at one place of a series, and those whose intervals reach into its own.
struct BestAt {
  std::string names;
  const char* are = "is";
  double accuracy = 0;

  BestAt(const std::vector<SeriesPoint>& points, double x) {
    std::vector<SeriesPoint> here;
    std::copy_if(points.begin(), points.end(), std::back_inserter(here),
                 [x](const SeriesPoint& point) { return point.x == x; });
    std::vector<Estimate> values;
    for (const SeriesPoint& point : here) values.push_back(point.accuracy);
    std::vector<std::string> labels;
    const std::vector<size_t> best = not_measurably_below_best(values);
    for (const size_t place : best) labels.push_back(method_label(here[place].method, here[place].mode));
    if (labels.size() > 1) are = "are";
    names = listed(labels);
    accuracy = here[best.front()].accuracy.value;
  }

  [[nodiscard]] std::string at(const std::string& where) const {
    return fmt::format("at {} ({:.1f} %)", where, accuracy);
  }
};

/// Without a full stop.
std::string best_at_both_ends(const std::vector<SeriesPoint>& points, const Counted& what) {
  const double first = points.front().x;
  const double last = points.back().x;
  const BestAt begin(points, first);
  const std::string text = fmt::format("{} {} best {}", begin.names, begin.are, begin.at(what.of(first)));
  if (first == last) return text;
  const BestAt end(points, last);
  return begin.names == end.names ? fmt::format("{} and {}", text, end.at(what.of(last)))
                                  : fmt::format("{}, {} {}", text, end.names, end.at(what.of(last)));
}

/// "plda gains 6.1 ± 0.8 points", "loses", ... from the first point to the last, which are of different episodes.
std::string from_first_to_last(const std::vector<SeriesPoint>& own) {
  return fmt::format("{} {}", method_label(own.back().method, own.back().mode),
                     change_words(difference_of(own.back().accuracy, own.front().accuracy)));
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
  const std::string prefix = words.x_symbol + "\u00a0=\u00a0";
  section.tables = {accuracy_table_of(points, "Accuracy, %, by " + words.by, prefix, words.decimals)};
  add_knowledge_table(points, prefix, words.decimals, section);
  return section;
}

/// "gauss-fusion loses 12.3 ± 1.1 points" of every method that is measurably worse at the last x than at the first.
std::string losses_under_imbalance(const std::vector<SeriesPoint>& points) {
  std::string losses;
  for (const std::string& method : methods_in(points)) {
    const auto own = points_of(points, method);
    if (verdict_of(difference_of(own.back().accuracy, own.front().accuracy)) != Verdict::kLess) continue;
    losses += (losses.empty() ? "" : ", ") + from_first_to_last(own);
  }
  return losses.empty() ? "No method here is measurably worse where queries are not balanced."
                        : fmt::format("Where queries are least balanced, {}.", losses);
}

/// What wrong knowledge does to each method that uses any; of those that do not change measurably the names alone.
std::string changes_under_noise(const std::vector<SeriesPoint>& points, double most) {
  if (points.front().x == most) {  // one level: nothing to compare with
    const BestAt best(points, most);
    return fmt::format("{} {} best {}.", best.names, best.are, best.at(fmt::format("a noise level of {:g}", most)));
  }
  std::string changes;
  std::vector<std::string> unchanged;
  for (const std::string& method : methods_in(points)) {
    const SeriesPoint last = points_of(points, method).back();
    constexpr double kRounding = 1e-9;  // of means over draws
    if (!last.change || std::abs(last.change->value) + last.change->ci95 < kRounding) continue;
    const std::string label = method_label(method, last.mode);
    if (verdict_of(*last.change) == Verdict::kUnclear) {
      unchanged.push_back(label);
    } else {
      changes += fmt::format("{}{} {}", changes.empty() ? "" : ", ", label, change_words(*last.change));
    }
  }
  if (changes.empty()) return "No method here is measurably affected by wrong knowledge.";
  const std::string rest = unchanged.empty() ? ""
                                             : fmt::format("; {} {} not change measurably", listed(unchanged),
                                                           unchanged.size() > 1 ? "do" : "does");
  return fmt::format("With every attribute flipped with probability {:g}, {}{}.", most, changes, rest);
}

/// What a method makes of base classes to be fitted on.
std::string worth_of_base_classes(const std::vector<SeriesPoint>& points) {
  const Counted what{"base class", "base classes"};
  std::string lead = lead_of(points);
  if (lead.empty()) lead = methods_in(points).back();
  const auto own = points_of(points, lead);
  const std::string reached = fmt::format("{:.1f} %", own.back().accuracy.value);
  const std::string text = own.size() == 1 ? fmt::format("{} has {} with {}.", method_label(lead, own.back().mode),
                                                         reached, what.of(own.back().x))
                                           : fmt::format("With {} instead of {:.0f} {}: {}.", what.of(own.back().x),
                                                         own.front().x, from_first_to_last(own), reached);
  return text + what_knowledge_adds(points, what);
}

/// Figure 3a's sentence, and its dashed line where the curves cross.
std::string worth_by_shots(const std::vector<SeriesPoint>& points, LineChart& chart) {
  const Counted shots{"shot", "shots"};
  std::vector<SeriesPoint> with_images = without_chance(points);
  const std::string lead = lead_of(with_images);
  const std::string baseline = baseline_in(with_images);
  if (lead.empty() || baseline.empty())
    return best_at_both_ends(points, shots) + "." + what_knowledge_adds(points, shots);
  const auto own = points_of(with_images, lead);
  const auto compared = points_of(with_images, baseline);
  if (const auto where = own.size() == compared.size() ? measured_crossing(own, compared) : std::nullopt)
    chart.vertical = {{*where, fmt::format("equal at K = {:.1f}", *where)}};
  const MethodSpec* spec = spec_of(lead);
  const bool completed = spec != nullptr && is_completion(*spec);
  return fmt::format("{} {} {}.", completed ? "Completed prototypes" : method_label(lead, own.back().mode),
                     completed ? "are" : "is",
                     against_baseline(own, baseline == "mean" ? "the class mean" : baseline, shots)) +
         what_knowledge_adds(points, shots);
}

}  // namespace

Section shots_section(const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes) {
  Section section{"shots", "Shots: when completion helps (figure 3a)", "", "", {}, {}};
  LineChart chart =
      accuracy_chart_of(points, "shots-accuracy", fmt::format("Accuracy by shots, {}-way", episodes.shape.n_way),
                        "labelled images a class, K");
  section.finding = worth_by_shots(points, chart);
  section.how =
      fmt::format(
          "{} episodes of {}-way for each K, {} queries a class, {} classes, seed {}; bands are 95 % intervals.",
          episodes.count, episodes.shape.n_way, episodes.shape.n_query, to_string(episodes.split), episodes.seed) +
      say_modes(methods_in(points));
  section.tables = {accuracy_table_of(points, "Accuracy, %, by shots", "K\u00a0=\u00a0", 0)};
  add_knowledge_table(points, "K\u00a0=\u00a0", 0, section);
  section.figures = {chart, gain_chart_of(without_chance(points), "shots-gain", chart.x_label)};
  return section;
}

Section noise_section(const std::vector<SeriesPoint>& points, const NoiseOptions& options,
                      const EpisodeOptions& episodes) {
  Section section{"noise", "Wrong knowledge (table 5)", "", "", {}, {}};
  section.finding = changes_under_noise(points, options.gammas.back());
  section.how = fmt::format(
                    "An attribute that a class has is taken from it, and one that it lacks is given to it, with "
                    "probability γ; mean over {} draws of the noise; embeddings that were made of the attributes "
                    "follow. The model stays as it "
                    "was trained. ",
                    options.draws) +
                say_episodes(episodes) + say_modes(methods_in(points));
  ReportTable table = accuracy_table_of(points, "Accuracy, %, by noise level γ", "γ\u00a0=\u00a0", 1);
  for (auto& row : table.rows) {
    if (row.front() == "completed") row.front() += " (w/o GaussFusion)";
    if (row.front() == "gauss-fusion (transductive)") row.front() = "gauss-fusion (transductive; w/ GaussFusion)";
  }
  section.tables = {table};
  add_knowledge_table(points, "γ\u00a0=\u00a0", 1, section);
  section.figures = {accuracy_chart_of(points, "noise-accuracy", "Accuracy by knowledge noise", "noise level γ"),
                     gain_chart_of(points, "noise-gain", "noise level γ")};
  return section;
}

Section ways_section(const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes) {
  const double most = points.back().x;
  const auto methods = methods_in(points);
  Section section = sweep_section(points, {"ways", "More classes to tell apart", "classes", "classes, n", "n", 0});
  const Counted classes{"class", "classes"};
  section.finding = fmt::format("{}, where chance is {:.1f} %.", best_at_both_ends(points, classes), 100.0 / most) +
                    what_knowledge_adds(points, classes);
  section.how =
      fmt::format("{} episodes of {}-shot for each n, {} queries a class, {} classes, seed {}.", episodes.count,
                  episodes.shape.k_shot, episodes.shape.n_query, to_string(episodes.split), episodes.seed) +
      say_modes(methods);
  return section;
}

Section queries_section(const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes) {
  Section section = sweep_section(
      points, {"queries", "How many queries transductive methods need", "queries", "queries of an episode", "q", 0});
  const Counted queries{"query", "queries"};
  section.finding = best_at_both_ends(points, queries) + "." + what_knowledge_adds(points, queries);
  section.how =
      fmt::format(
          "{} episodes of {}-way {}-shot for each number of queries, as many of each class (a single query is of "
          "one of them), {} classes, seed {}.",
          episodes.count, episodes.shape.n_way, episodes.shape.k_shot, to_string(episodes.split), episodes.seed) +
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
  section.finding = worth_of_base_classes(points);
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
    section.finding +=
        fmt::format("{}{} (semi-supervised) has {:.1f} % with {:.0f} unlabelled images a class",
                    section.finding.empty() ? "" : "; ", method, own.back().accuracy.value, own.back().x);
    if (own.size() > 1) {
      const Estimate more = difference_of(own.back().accuracy, own.front().accuracy);
      section.finding += fmt::format(" and {:.1f} % with {:.0f}{}", own.front().accuracy.value, own.front().x,
                                     verdict_of(more) == Verdict::kUnclear ? ", not measurably different" : "");
    }
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
