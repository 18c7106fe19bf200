#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "base/json_text.h"
#include "report/detail/html_parts.h"
#include "report/detail/section_tables.h"
#include "report/is_informative.h"
#include "report/methods.h"
#include "report/svg.h"

namespace protocom {
namespace {

/// One protocol: the columns of the table, the panels of the charts.
struct Protocol {
  int64_t n_way = 0;
  int64_t k_shot = 0;
  std::string title;

  bool operator<(const Protocol& other) const {
    return std::tie(n_way, k_shot, title) < std::tie(other.n_way, other.k_shot, other.title);
  }
};

std::vector<Protocol> protocols_of(const Evaluation& evaluation) {
  std::set<Protocol> found;
  for (const MethodResult& result : evaluation.results) found.insert({result.n_way, result.k_shot, result.task});
  return {found.begin(), found.end()};
}

std::string colour_of(const Evaluation& evaluation, const std::string& method) {
  const std::vector<std::string> labels = methods_in(evaluation.results);
  const auto place = std::find(labels.begin(), labels.end(), method) - labels.begin();
  return method_classes(labels)[static_cast<size_t>(place)];
}

const MethodResult* find(const Evaluation& evaluation, const Protocol& protocol, const std::string& method,
                         const std::string& mode) {
  for (const MethodResult* row : evaluation.of(protocol.title)) {
    if (row->method == method && row->mode == mode) return row;
  }
  return nullptr;
}

const MethodResult* baseline_of(const Evaluation& evaluation, const Protocol& protocol) {
  for (const MethodResult* row : evaluation.of(protocol.title)) {
    if (row->method == evaluation.baseline) return row;
  }
  return nullptr;
}

std::string gain_line(const MethodResult& row, const MethodResult* baseline) {
  if (baseline == nullptr || baseline == &row) return "";
  const Estimate gain = gain_over(row, *baseline);
  const char* direction = gain.value > gain.ci95 ? "up" : gain.value < -gain.ci95 ? "down" : "same";
  return fmt::format("<small class=\"{}\">{}</small>", direction, signed_cell(gain));
}

std::string table_cell(const Evaluation& evaluation, const Protocol& protocol,
                       const std::pair<std::string, std::string>& method) {
  const MethodResult* row = find(evaluation, protocol, method.first, method.second);
  if (row == nullptr) return "<td>–</td>";
  const auto rows = evaluation.of(protocol.title);
  const bool best = std::all_of(rows.begin(), rows.end(), [row](const MethodResult* other) {
    return other->mode != row->mode || other->accuracy.value <= row->accuracy.value;
  });
  const std::string value = fmt::format("{:.1f} ± {:.1f}", row->accuracy.value, row->accuracy.ci95);
  return fmt::format("<td>{}{}</td>", best ? "<b>" + value + "</b>" : value,
                     gain_line(*row, baseline_of(evaluation, protocol)));
}

/// Returns the episodes per second of a method, of the slowest of its protocols; "" if nothing was timed.
std::string speed_cell(const Evaluation& evaluation, const std::string& method) {
  std::optional<double> slowest;
  for (const MethodResult& row : evaluation.results) {
    if (row.method == method && row.episodes_per_second)
      slowest = std::min(slowest.value_or(*row.episodes_per_second), *row.episodes_per_second);
  }
  return slowest ? fmt::format("<td>{:.0f}</td>", *slowest) : "";
}

/// Returns a line between methods of different modes, if there are several.
std::string mode_line(const Evaluation& evaluation, const std::string& mode, size_t columns) {
  const auto methods = evaluation.methods();
  if (methods.front().second == methods.back().second) return "";
  return fmt::format("<tr><th scope=\"rowgroup\" colspan=\"{}\">{}</th></tr>\n", columns, mode);
}

/// Returns a tag for what a method assumes.
std::string assumes_line(const std::string& method) {
  const std::string assumes = method_assumes(method);
  return assumes.empty() ? "" : fmt::format("<small>{}</small>", assumes);
}

std::string accuracy_table(const Evaluation& evaluation) {
  const std::vector<Protocol> protocols = protocols_of(evaluation);
  std::string html =
      "<div class=\"card\"><p class=\"caption\">Accuracy, %</p>\n"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Accuracy, %\"><table>\n"
      "<thead><tr><th scope=\"col\">Method</th>";
  for (const Protocol& protocol : protocols)
    html += fmt::format("<th scope=\"col\">{}</th>", unbroken_html(protocol.title));
  const bool timed = evaluation.results.front().episodes_per_second.has_value();
  if (timed) html += "<th scope=\"col\">episodes/s</th>";
  html += "</tr></thead>\n<tbody>\n";
  std::string mode;
  for (const auto& method : evaluation.methods()) {
    if (method.second != mode) html += mode_line(evaluation, method.second, protocols.size() + (timed ? 2 : 1));
    mode = method.second;
    html += fmt::format("<tr><th scope=\"row\"><span class=\"tag {}\">{}</span><small>{}</small>{}</th>",
                        colour_of(evaluation, method.first), escape_html(method.first), method.second,
                        assumes_line(method.first));
    for (const Protocol& protocol : protocols) html += table_cell(evaluation, protocol, method);
    html += speed_cell(evaluation, method.first);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></div>\n";
}

// Uses one axis for all panels, so that they can be compared.
double accuracy_axis(const Evaluation& evaluation) {
  double highest = 20.0;
  for (const MethodResult& row : evaluation.results)
    highest = std::max(highest, row.accuracy.value + row.accuracy.ci95);
  return std::min(100.0, std::ceil(highest / 20.0) * 20.0);
}

BarChart accuracy_chart(const Evaluation& evaluation, const Protocol& protocol, const std::string& id) {
  BarChart chart;
  chart.id = id;
  chart.title = fmt::format("Accuracy, {}", protocol.title);
  chart.high = accuracy_axis(evaluation);
  chart.unit = "%";
  chart.references = {{100.0 / static_cast<double>(protocol.n_way), "chance"}};
  for (const MethodResult* row : evaluation.of(protocol.title)) {
    chart.bars.push_back(
        {row->method, row->mode, row->accuracy.value, row->accuracy.ci95, colour_of(evaluation, row->method)});
  }
  return chart;
}

BarChart cosine_chart(const Evaluation& evaluation, const Protocol& protocol, const std::string& id) {
  BarChart chart;
  chart.id = id;
  chart.title = fmt::format("Cosine to the true centre, {}", protocol.title);
  chart.decimals = 3;
  for (const MethodResult* row : evaluation.of(protocol.title)) {
    if (!row->cosine) continue;
    chart.bars.push_back(
        {row->method, row->mode, row->cosine->value, row->cosine->ci95, colour_of(evaluation, row->method)});
    // Features without a final activation can point away from the centre.
    if (row->cosine->value < 0.0) chart.low = -1.0;
  }
  return chart;
}

std::string charts(const Evaluation& evaluation, const std::string& id) {
  std::string accuracy;
  std::string cosine;
  int number = 0;
  for (const Protocol& protocol : protocols_of(evaluation)) {
    const std::string own = fmt::format("{}-{}", id, ++number);
    accuracy += figure_html(accuracy_chart(evaluation, protocol, own + "-accuracy"));
    const BarChart chart = cosine_chart(evaluation, protocol, own + "-cosine");
    if (is_informative(chart)) cosine += figure_html(chart);
  }
  const std::string html = fmt::format("<div class=\"charts\">{}{}</div>\n", accuracy, cosine);
  if (cosine.empty()) return html;
  return html +
         "<p class=\"soft\">Cosine: the mean between an episode’s prototypes and the mean of all images of the class; "
         "1 is the true centre itself.</p>\n";
}

}  // namespace

std::string methods_html(const std::vector<Evaluation>& evaluations) {
  // In the order of the results, since some texts refer to the previous method; parameters change how, not what.
  std::set<std::string> explained;
  std::string html;
  for (const Evaluation& evaluation : evaluations) {
    for (const MethodResult& row : evaluation.results) {
      const std::string name = row.method.substr(0, row.method.find(':')), text = method_about(row.method);
      if (!text.empty() && explained.insert(name).second)
        html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(text));
    }
  }
  return html.empty() ? "" : "<h3 id=\"methods\">Methods</h3>\n<dl>\n" + html + "</dl>\n";
}

std::string how_to_read_html(const std::vector<Evaluation>& evaluations) {
  if (evaluations.empty()) return "";
  const std::string& baseline = evaluations.front().baseline;
  std::string html = fmt::format(
      "<p class=\"soft\">Accuracy is the percentage of queries classified correctly ± 95 % interval over episodes; "
      "below it stands the difference to {}, episode by episode, with its own interval. <b>inductive</b>: each query "
      "is classified on its own.",
      baseline == "mean" ? "the mean" : escape_html(baseline));
  std::set<std::string> modes;
  bool timed = false;
  for (const Evaluation& evaluation : evaluations) {
    for (const MethodResult& row : evaluation.results) {
      modes.insert(row.mode);
      timed = timed || row.episodes_per_second;
    }
  }
  if (modes.count("transductive") > 0)
    html += " <b>transductive</b>: the method sees all queries of an episode, unlabelled, before it classifies any.";
  if (modes.count("semi-supervised") > 0)
    html += " <b>semi-supervised</b>: the method sees unlabelled images of the classes that are not scored.";
  if (timed) html += " <b>episodes/s</b>: on one core, by processor time, the slowest of a row’s tasks.";
  return html + "</p>\n";
}

std::string protocol_line(const Evaluation& evaluation) {
  const MethodResult& first = evaluation.results.front();
  std::string text = fmt::format("{} episodes", first.episodes);
  if (first.n_query > 0) text += fmt::format(" of {} queries per class", first.n_query);
  if (evaluation.dataset.contains("classes"))
    text += fmt::format(", drawn from {} classes", json_text(evaluation.dataset.at("classes")));
  if (evaluation.dataset.contains("split") && evaluation.dataset.at("split").is_string())
    text += fmt::format(" of the {} split", evaluation.dataset.at("split").get<std::string>());
  return text + ".";
}

std::string evaluation_html(const Evaluation& evaluation, const std::string& id) {
  const ReportTable knowledge = knowledge_table(evaluation);
  return accuracy_table(evaluation) +
         (knowledge.rows.empty() ? "" : "<div class=\"charts\">" + table_html(knowledge) + "</div>\n") +
         charts(evaluation, id);
}

}  // namespace protocom
