#include "protocom/report/html_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "protocom/core/error.h"
#include "protocom/report/bar_chart.h"
#include "protocom/report/svg.h"
#include "report/picture.h"
#include "report/style.h"

namespace protocom {
namespace {

using nlohmann::json;

/// One protocol: the columns of the table, the panels of the charts.
struct Protocol {
  int64_t n_way = 0;
  int64_t k_shot = 0;

  bool operator<(const Protocol& other) const {
    return std::pair(n_way, k_shot) < std::pair(other.n_way, other.k_shot);
  }
  [[nodiscard]] std::string title() const { return fmt::format("{}-way {}-shot", n_way, k_shot); }
};

std::vector<Protocol> protocols_of(const Evaluation& evaluation) {
  std::set<Protocol> found;
  for (const MethodResult& result : evaluation.results) found.insert({result.n_way, result.k_shot});
  return {found.begin(), found.end()};
}

// Methods in file order, each once.
std::vector<std::pair<std::string, std::string>> methods_of(const Evaluation& evaluation) {
  std::vector<std::pair<std::string, std::string>> methods;
  for (const MethodResult& result : evaluation.results) {
    const std::pair<std::string, std::string> method = {result.method, result.mode};
    if (std::find(methods.begin(), methods.end(), method) == methods.end()) methods.push_back(method);
  }
  return methods;
}

std::string about(const std::string& method) {
  static const std::map<std::string, std::string> kAbout = {
      {"mean", "mean of the support images"},
      {"completed", "that mean, completed by the class's attributes"},
      {"mean-fusion", "half mean, half completed"},
      {"gauss-fusion", "both fused by how certain each is"},
  };
  const auto found = kAbout.find(method);
  return found == kAbout.end() ? "" : found->second;
}

const MethodResult* find(const Evaluation& evaluation, const Protocol& protocol, const std::string& method,
                         const std::string& mode) {
  for (const MethodResult* row : evaluation.of(protocol.n_way, protocol.k_shot)) {
    if (row->method == method && row->mode == mode) return row;
  }
  return nullptr;
}

std::string gain_line(const MethodResult& row, const MethodResult* mean) {
  if (mean == nullptr || mean == &row) return "";
  const Estimate gain = gain_over(row, *mean);
  const char* direction = gain.value > gain.ci95 ? "up" : gain.value < -gain.ci95 ? "down" : "same";
  return fmt::format("<small class=\"{}\">{} ± {:.1f}</small>", direction, signed_points(gain.value), gain.ci95);
}

std::string table_cell(const Evaluation& evaluation, const Protocol& protocol,
                       const std::pair<std::string, std::string>& method) {
  const MethodResult* row = find(evaluation, protocol, method.first, method.second);
  if (row == nullptr) return "<td>–</td>";
  const auto rows = evaluation.of(protocol.n_way, protocol.k_shot);
  const bool best = std::all_of(rows.begin(), rows.end(), [row](const MethodResult* other) {
    return other->accuracy.value <= row->accuracy.value;
  });
  const std::string value = fmt::format("{:.1f} ± {:.1f}", row->accuracy.value, row->accuracy.ci95);
  return fmt::format("<td>{}{}</td>", best ? "<b>" + value + "</b>" : value,
                     gain_line(*row, find(evaluation, protocol, "mean", "inductive")));
}

std::string accuracy_table(const Evaluation& evaluation) {
  const std::vector<Protocol> protocols = protocols_of(evaluation);
  std::string html = "<div class=\"card scroll\"><table>\n<thead><tr><th scope=\"col\">Method</th>";
  for (const Protocol& protocol : protocols) html += fmt::format("<th scope=\"col\">{}</th>", protocol.title());
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& method : methods_of(evaluation)) {
    const std::string words = about(method.first);
    html +=
        fmt::format("<tr><th scope=\"row\">{}<small class=\"about\">{}</small><small class=\"tag {}\">{}</small></th>",
                    escape_html(method.first), escape_html(words), method.second, method.second);
    for (const Protocol& protocol : protocols) html += table_cell(evaluation, protocol, method);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string describe(const BarChart& chart) {
  std::string text = "Horizontal bars. ";
  for (const Bar& bar : chart.bars) {
    text += fmt::format("{}, {}: {:.{}f}{}", bar.label, bar.note, bar.value, chart.decimals, chart.unit);
    if (bar.interval > 0.0) text += fmt::format(" plus or minus {:.{}f}", bar.interval, chart.decimals);
    text += ". ";
  }
  if (chart.reference)
    text += fmt::format("Dashed line, {}: {:.{}f}{}.", chart.reference->label, chart.reference->value, chart.decimals,
                        chart.unit);
  return text;
}

std::string figure(BarChart chart) {
  chart.description = describe(chart);
  return fmt::format("<figure class=\"card\"><figcaption>{}</figcaption>\n{}</figure>\n", escape_html(chart.title),
                     draw_bar_chart(chart));
}

// One axis for all panels, so that they can be compared.
double accuracy_axis(const Evaluation& evaluation) {
  double highest = 20.0;
  for (const MethodResult& row : evaluation.results)
    highest = std::max(highest, row.accuracy.value + row.accuracy.ci95);
  return std::min(100.0, std::ceil(highest / 20.0) * 20.0);
}

BarChart accuracy_chart(const Evaluation& evaluation, const Protocol& protocol, const std::string& id) {
  BarChart chart;
  chart.id = id;
  chart.title = fmt::format("Accuracy, {}", protocol.title());
  chart.high = accuracy_axis(evaluation);
  chart.unit = "%";
  chart.reference = {100.0 / static_cast<double>(protocol.n_way), "chance"};
  for (const MethodResult* row : evaluation.of(protocol.n_way, protocol.k_shot)) {
    chart.bars.push_back({row->method, row->mode, row->accuracy.value, row->accuracy.ci95, row->mode});
  }
  return chart;
}

BarChart cosine_chart(const Evaluation& evaluation, const Protocol& protocol, const std::string& id) {
  BarChart chart;
  chart.id = id;
  chart.title = fmt::format("Cosine to the true centre, {}", protocol.title());
  chart.decimals = 3;
  for (const MethodResult* row : evaluation.of(protocol.n_way, protocol.k_shot)) {
    if (!row->cosine) continue;
    chart.bars.push_back({row->method, row->mode, row->cosine->value, row->cosine->ci95, row->mode});
    // Features without a final activation can point away from the centre.
    if (row->cosine->value < 0.0) chart.low = -1.0;
  }
  return chart;
}

std::string charts(const Evaluation& evaluation, const std::string& id) {
  std::string accuracy;
  std::string cosine;
  for (const Protocol& protocol : protocols_of(evaluation)) {
    const std::string own = fmt::format("{}-{}-{}", id, protocol.n_way, protocol.k_shot);
    accuracy += figure(accuracy_chart(evaluation, protocol, own + "-accuracy"));
    const BarChart chart = cosine_chart(evaluation, protocol, own + "-cosine");
    if (!chart.bars.empty()) cosine += figure(chart);
  }
  std::string html = fmt::format("<h3>Accuracy</h3>\n<div class=\"charts\">{}</div>\n", accuracy);
  if (!cosine.empty()) {
    html +=
        "<h3>How close the prototypes come to the classes’ true centres</h3>\n"
        "<p class=\"soft\">Mean cosine between an episode’s prototypes and the mean of all images of the class; 1 is "
        "the centre itself.</p>\n";
    html += fmt::format("<div class=\"charts\">{}</div>\n", cosine);
  }
  return html;
}

std::string protocol_line(const Evaluation& evaluation) {
  const MethodResult& first = evaluation.results.front();
  std::string text = fmt::format("{} episodes", first.episodes);
  if (first.n_query > 0) text += fmt::format(" of {} queries a class", first.n_query);
  if (evaluation.dataset.contains("classes"))
    text += fmt::format(", drawn from {} classes", evaluation.dataset.at("classes").dump());
  if (evaluation.dataset.contains("split") && evaluation.dataset.at("split").is_string()) {
    text += fmt::format(" of the {} split", escape_html(evaluation.dataset.at("split").get<std::string>()));
  }
  return text + ".";
}

std::string plain_text(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string definition(const std::string& name, const json& value, const char* tag) {
  return fmt::format("<dt>{0}</dt><dd><{2}>{1}</{2}></dd>\n", escape_html(name), escape_html(plain_text(value)), tag);
}

std::string reproduce(const Evaluation& evaluation) {
  std::string html = "<h3>How to reproduce this</h3>\n";
  if (!evaluation.command.empty()) html += fmt::format("<pre>{}</pre>\n", escape_html(evaluation.command));
  html += "<dl>\n";
  if (evaluation.header.contains("seed")) html += definition("seed", evaluation.header.at("seed"), "span");
  if (evaluation.header.contains("program_version"))
    html += definition("protocom", evaluation.header.at("program_version"), "span");
  if (evaluation.dataset.contains("features_hash"))
    html += definition("features", evaluation.dataset.at("features_hash"), "code");
  if (evaluation.header.contains("inputs") && evaluation.header.at("inputs").is_object()) {
    for (const auto& [name, hash] : evaluation.header.at("inputs").items()) {
      if (name != "features") html += definition(name, hash, "code");
    }
  }
  if (!evaluation.episodes_hash.empty()) html += definition("episodes", evaluation.episodes_hash, "code");
  return html + "</dl>\n";
}

std::string picture(const ReportPicture& one) {
  return fmt::format(
      "<figure class=\"picture\"><img alt=\"{0}\" src=\"data:{1};base64,{2}\"><figcaption>{0}</figcaption></figure>\n",
      escape_html(one.caption), media_type(one.bytes, one.name), base64(one.bytes));
}

std::string finding(const Evaluation& evaluation) {
  std::string html = fmt::format("<p class=\"headline\">{}</p>\n", escape_html(headline(evaluation)));
  const std::string more = caveat(evaluation);
  if (!more.empty()) html += fmt::format("<p>{}</p>\n", escape_html(more));
  return html + fmt::format("<p class=\"soft\">{}</p>\n", protocol_line(evaluation));
}

constexpr const char* kHowToRead =
    "<p class=\"soft\">Percent of queries classified correctly ± 95 % interval over episodes; below it the difference "
    "to the mean, "
    "episode by episode, with its own interval. <span class=\"tag inductive\">inductive</span>: each query is "
    "classified on its own. "
    "<span class=\"tag transductive\">transductive</span>: the method sees all queries of an episode, unlabelled, "
    "before it classifies "
    "any.</p>\n";

}  // namespace

std::string html_report(const std::vector<Evaluation>& evaluations, const ReportOptions& options) {
  if (evaluations.empty()) fail("a report needs at least one evaluation");
  std::string pictures;
  for (const ReportPicture& one : options.pictures) pictures += picture(one);
  std::string body = fmt::format("<h1>{}</h1>\n", escape_html(options.title));
  for (size_t i = 0; i < evaluations.size(); ++i) {
    const Evaluation& evaluation = evaluations[i];
    if (evaluations.size() > 1) body += fmt::format("<h2>{}</h2>\n", escape_html(evaluation.name));
    body +=
        finding(evaluation) + accuracy_table(evaluation) + kHowToRead + charts(evaluation, fmt::format("chart-{}", i));
    if (i + 1 == evaluations.size()) body += pictures;
    body += reproduce(evaluation);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      escape_html(options.title), report_style(), body);
}

}  // namespace protocom
