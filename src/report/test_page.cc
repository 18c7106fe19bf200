#include "report/test_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "eval/test_figures.h"
#include "report/detail/html_parts.h"
#include "report/detail/likeness.h"
#include "report/svg.h"

namespace protocom {
namespace {

constexpr size_t kMostMatrixRows = 60;

constexpr const char* kSheet = R"css(
.sheet { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .9rem; margin: 1rem 0; }
.sheet figure { min-width: 0; }
.sheet img, .sheet .none { display: block; width: 100%; aspect-ratio: 1; object-fit: cover; border-radius: 8px; background: var(--grid); }
.sheet figcaption { font-size: .85rem; line-height: 1.35; overflow-wrap: anywhere; }
.sheet figcaption b { color: var(--ink); }
.sheet small { display: block; font-size: .75rem; }
)css";

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string share_cell(int64_t part, int64_t all) {
  return all == 0 ? "–"
                  : fmt::format("{:.1f} % ({} of {})", 100.0 * static_cast<double>(part) / static_cast<double>(all),
                                part, all);
}

std::string name_of(const TestResult& result) { return std::filesystem::path(result.recognizer).filename().string(); }

std::vector<const TestResult*> results_of(const TestPage& page) {
  std::vector<const TestResult*> all = {page.first};
  if (page.second != nullptr) all.push_back(page.second);
  return all;
}

/// Returns the figures of a test, in the order of the table's rows; empty if there is none.
std::vector<std::pair<std::string, std::string>> result_figures(const TestResult& result) {
  const std::string none = result.calibrated ? "" : "not calibrated";
  return {{"Accuracy", percent(result.accuracy)},
          {"95 % interval", fmt::format("{:.1f} to {:.1f} %", 100 * result.low, 100 * result.high)},
          {"Right", fmt::format("{} of {}", result.right, result.images)},
          {"Among the first five", result.top5 ? percent(*result.top5) : ""},
          {"Mean certainty", percent(result.certainty)},
          {"Calibration error (ECE)", fmt::format("{:.1f} points", 100 * result.expected_error)},
          {"Log loss", fmt::format("{:.3f}", result.log_loss)},
          {"Own photos refused", none.empty() ? share_cell(result.refused, result.images) : none},
          {"Right and not refused", none.empty() ? share_cell(result.kept_right, result.images) : ""},
          {"Unknown photos accepted", result.unknown == 0 ? ""
                                      : none.empty()      ? share_cell(result.accepted, result.unknown)
                                                          : none}};
}

std::string figures_html(const TestPage& page) {
  ReportTable table{"", {"Figure"}};
  for (const TestResult* result : results_of(page)) {
    table.columns.push_back(name_of(*result));
    const auto figures = result_figures(*result);
    table.rows.resize(figures.size());
    for (size_t i = 0; i < figures.size(); ++i) {
      if (table.rows[i].empty()) table.rows[i].push_back(figures[i].first);
      table.rows[i].push_back(figures[i].second);
    }
  }
  const auto says_nothing = [](const std::vector<std::string>& row) {
    return std::all_of(row.begin() + 1, row.end(), [](const std::string& cell) { return cell.empty(); });
  };
  table.rows.erase(std::remove_if(table.rows.begin(), table.rows.end(), says_nothing), table.rows.end());
  return table_html(table);
}

/// Says what was tested, and what was not.
std::string protocol_html(const TestPage& page) {
  std::string text;
  for (const TestResult* result : results_of(page))
    text += fmt::format("{}: {} classes, {} ({}){}. ", name_of(*result), result->enrolled, result->method, result->mode,
                        result->calibrated ? ", with 'none of these'" : "");
  const TestResult& first = *page.first;
  for (const auto& [count, words] :
       {std::pair(first.already_enrolled, "left out, since they are enrolled"),
        {static_cast<int64_t>(first.unreadable.size()), "could not be read"},
        {first.unshared, "left out, since only one recognizer has their class"},
        {first.unlabelled, "among the unlabelled photos that the recognizer learned from"}}) {
    if (count > 0) text += fmt::format("{} photos {}. ", count, words);
  }
  return fmt::format(
      "<p class=\"soft\">{}Accuracy counts the most probable class, even where the answer is “none of these”. Its "
      "interval is Wilson’s, with the photos taken as independent: photos of one moment make it too narrow.</p>\n",
      prose_html(text));
}

std::string picture_html(const TestPage& page, const std::string& image) {
  const std::string bytes = page.picture ? page.picture(image) : "";
  if (bytes.empty()) return "<div class=\"none\"></div>";
  return fmt::format("<img alt=\"{}\" src=\"data:image/jpeg;base64,{}\">", escape_html(image), bytes);
}

std::string answer_html(const TestedImage& image) {
  if (image.is_refused()) return fmt::format("none of these, {:.2f}", *image.none);
  return fmt::format("{}, {:.2f}", escape_html(image.answer), sureness(image));
}

std::string right_html(const TestedImage& image) {
  return image.known ? escape_html(image.class_name) : fmt::format("none of these ({})", escape_html(image.class_name));
}

std::string tile_html(const TestPage& page, const TestedImage& image, const std::string& answers) {
  return fmt::format("<figure>{}<figcaption><b>{}</b><br>{}<small title=\"{}\">{}</small></figcaption></figure>\n",
                     picture_html(page, image.image), right_html(image), answers, escape_html(image.image),
                     escape_html(std::filesystem::path(image.image).filename().string()));
}

std::string worst_html(const TestPage& page) {
  std::string html;
  for (const TestResult* result : results_of(page)) {
    const std::vector<int64_t> places = worst_answers(*result, page.worst);
    const std::string whose = page.second == nullptr ? "" : fmt::format(" by {}", escape_html(name_of(*result)));
    html +=
        fmt::format("<h2 id=\"worst{}\">The most confident wrong answers{}</h2>\n", html.empty() ? "" : "-2", whose);
    if (places.empty()) {
      html += "<p>No answer is wrong.</p>\n";
      continue;
    }
    html +=
        "<p class=\"soft\">The right class, and below it the answer with its probability.</p>\n<div class=\"sheet\">\n";
    for (const int64_t place : places) {
      const TestedImage& image = result->tested[static_cast<size_t>(place)];
      html += tile_html(page, image, "→ " + answer_html(image));
    }
    html += "</div>\n";
  }
  return html;
}

std::string differing_html(const TestPage& page) {
  if (!page.comparison) return "";
  const std::vector<int64_t>& places = page.comparison->differing;
  std::string html = fmt::format(
      "<h2 id=\"differing\">Photos that they answer differently ({})</h2>\n<div class=\"sheet\">\n", places.size());
  for (size_t i = 0; i < std::min(places.size(), static_cast<size_t>(page.worst)); ++i) {
    const auto place = static_cast<size_t>(places[i]);
    const TestedImage &one = page.first->tested[place], &other = page.second->tested[place];
    html += tile_html(page, one, fmt::format("1: {}<br>2: {}", answer_html(one), answer_html(other)));
  }
  return html + "</div>\n";
}

std::string reliability_html(const TestPage& page) {
  LineChart chart;
  chart.id = "reliability";
  chart.title = "Calibration of the certainty";
  chart.x_label = "certainty (mean of its bin)";
  chart.y_label = "share that is right";
  chart.low = 0.0;
  chart.high = 1.0;
  chart.decimals = 2;
  chart.diagonal = "perfect";
  std::string tables;
  for (const TestResult* result : results_of(page)) {
    LineSeries series{name_of(*result), chart.series.empty() ? "hue-1" : "hue-2", {}, {}, {}};
    ReportTable table{fmt::format("Bins of the calibration error, {}", name_of(*result)),
                      {"Certainty", "Photos", "Mean", "Right"}};
    for (const CertaintyBin& bin : result->bins) {
      series.x.push_back(std::round(100 * bin.certainty) / 100);  // the number printed at the axis
      series.y.push_back(bin.accuracy);
      table.rows.push_back({fmt::format("{:.2f} to {:.2f}", bin.low, bin.high), std::to_string(bin.images),
                            fmt::format("{:.2f}", bin.certainty), fmt::format("{:.2f}", bin.accuracy)});
    }
    chart.series.push_back(series);
    tables += table_html(table);
  }
  return "<h2 id=\"calibration\">Calibration</h2>\n<div class=\"charts\">" + figure_html(chart) + tables + "</div>\n";
}

/// Returns the classes of the matrix: those with photos and those that occur as answers; if there are many, those that
/// are wrong most often.
std::vector<std::string> classes_shown(const TestResult& result) {
  std::map<std::string, double> right;
  for (const ConfusionCell& cell : result.confusion) right.emplace(cell.answer, 2.0);
  for (const TestedClass& own : result.classes)
    right[own.name] = static_cast<double>(own.right) / static_cast<double>(own.images);
  std::vector<std::string> names;
  for (const auto& [name, share] : right) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) { return right.at(a) < right.at(b); });
  names.resize(std::min(names.size(), kMostMatrixRows));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::vector<double>> percents_of(const TestResult& result, const std::vector<std::string>& names) {
  std::map<std::string, size_t> places;
  for (size_t k = 0; k < names.size(); ++k) places[names[k]] = k;
  std::map<std::string, double> images;
  for (const TestedClass& own : result.classes) images[own.name] = static_cast<double>(own.images);
  std::vector<std::vector<double>> matrix(names.size(), std::vector<double>(names.size(), -1.0));
  for (const auto& [name, count] : images) {
    if (places.count(name) > 0) std::fill(matrix[places[name]].begin(), matrix[places[name]].end(), 0.0);
  }
  for (const ConfusionCell& cell : result.confusion) {
    if (places.count(cell.class_name) == 0 || places.count(cell.answer) == 0) continue;
    matrix[places[cell.class_name]][places[cell.answer]] =
        100.0 * static_cast<double>(cell.images) / images.at(cell.class_name);
  }
  return matrix;
}

/// Puts classes that are confused with each other side by side.
std::string confusion_html(const TestResult& result, const std::string& id) {
  const std::vector<std::string> names = classes_shown(result);
  const std::vector<std::vector<double>> matrix = percents_of(result, names);
  HeatMap map;
  map.id = id;
  map.title = fmt::format("Confusion matrix of {}, % of the photos of a class", name_of(result));
  if (names.size() == kMostMatrixRows) map.title += ": the classes that are right least often";
  map.row_title = "true class";
  map.column_title = "answer";
  for (const size_t r : order_by_likeness(matrix)) {
    map.labels.push_back(names[r]);
    map.percent.emplace_back();
    for (const size_t c : order_by_likeness(matrix)) map.percent.back().push_back(matrix[r][c]);
  }
  return "<div class=\"charts\">" + figure_html(map) + "</div>\n";
}

std::string classes_html(const TestResult& result) {
  ReportTable table{fmt::format("Class by class, {}", name_of(result)), {"Class", "Photos", "Right", "Right, %"}};
  if (result.calibrated) table.columns.emplace_back("Refused");
  table.columns.emplace_back("Taken for most often");
  for (const TestedClass& own : result.classes) {
    std::vector<std::string> row = {
        own.name, std::to_string(own.images), std::to_string(own.right),
        fmt::format("{:.0f}", 100.0 * static_cast<double>(own.right) / static_cast<double>(own.images))};
    if (result.calibrated) row.push_back(std::to_string(own.refused));
    row.push_back(own.confused == 0 ? "–" : fmt::format("{} ({})", own.confused_with, own.confused));
    table.rows.push_back(row);
  }
  return table_html(table);
}

std::string unknown_html(const TestResult& result) {
  if (result.unknown == 0) return "";
  ReportTable table{fmt::format("Photos of classes that {} does not have: “none of these” is right", name_of(result)),
                    {"Class", "Photos", "Accepted"}};
  for (const UnknownClass& own : result.unknown_classes)
    table.rows.push_back(
        {own.name, std::to_string(own.images), result.calibrated ? std::to_string(own.accepted) : "–"});
  return table_html(table);
}

std::string headline_html(const TestPage& page) {
  std::string html;
  for (const TestResult* result : results_of(page)) {
    const std::string whose = page.second == nullptr ? "" : name_of(*result) + ": ";
    html += fmt::format("<p class=\"headline\">{}{} photos.</p>\n", escape_html(whose),
                        prose_html(accuracy_sentence(*result)));
  }
  if (page.comparison)
    html += fmt::format("<p class=\"finding\">{} is {}.</p>\n", escape_html(name_of(*page.second)),
                        prose_html(comparison_sentence(*page.comparison)));
  return html;
}

/// Returns links to the parts that are in `main`.
std::string links_html(const std::string& main) {
  std::string items;
  for (const auto& [id, words] : {std::pair("top", "Findings"),
                                  {"differing", "Answered differently"},
                                  {"worst", "Wrong answers"},
                                  {"calibration", "Calibration"},
                                  {"classes", "Classes"}}) {
    if (main.find(fmt::format("id=\"{}\"", id)) != std::string::npos)
      items += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", id, words);
  }
  return contents_of(items);
}

}  // namespace

std::string test_page(const TestPage& page) {
  std::string main = headline_html(page) + protocol_html(page) + figures_html(page) + differing_html(page) +
                     worst_html(page) + reliability_html(page) + "<h2 id=\"classes\">Classes</h2>\n";
  size_t number = 0;
  for (const TestResult* result : results_of(page)) {
    main += classes_html(*result) + unknown_html(*result);
    main += confusion_html(*result, fmt::format("confusion-{}", ++number));
  }
  std::string title = "Test of " + name_of(*page.first);
  if (page.second != nullptr) title += " and " + name_of(*page.second);
  main = fmt::format("<h1 id=\"top\">{}</h1>\n{}", escape_html(title), main);
  return page_html(title, links_html(main), main, kSheet);
}

}  // namespace protocom
