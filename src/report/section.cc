#include "report/section.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.h"

namespace protocom {
namespace {

constexpr double kLargest = 1e12;
constexpr double kShortestAxis = 1e-9;  // of the numbers at its ends, below which its ticks coincide
constexpr int kMostDecimals = 12;
constexpr int64_t kMostPhotoColumns = 1000;

bool is_number(double value) { return std::abs(value) <= kLargest; }

bool are_numbers(const std::vector<double>& values) { return std::all_of(values.begin(), values.end(), is_number); }

bool is_axis(double low, double high) {
  return is_number(low) && is_number(high) && high - low > kShortestAxis * std::max(std::abs(low), std::abs(high));
}

bool are_decimals(int decimals) { return decimals >= 0 && decimals <= kMostDecimals; }

/// Returns whether a page may put the text between the quotes of class="...".
bool is_css_class(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == ' ';
  });
}

template <typename Parts>
bool are_lines(const Parts& lines) {
  return std::all_of(lines.begin(), lines.end(), [](const ReferenceLine& line) { return is_number(line.value); });
}

/// Returns what is wrong with a chart; empty: nothing.
std::string_view find_fault(const BarChart& chart) {
  if (!is_axis(chart.low, chart.high)) return "its axis has length 0";
  if (!are_decimals(chart.decimals)) return "its decimals are out of range";
  if (!are_lines(chart.references)) return "a value of it is too large";
  for (const Bar& bar : chart.bars) {
    if (!is_number(bar.value) || !is_number(bar.interval)) return "a value of it is too large";
    if (!is_css_class(bar.css_class)) return "a css_class of it is not a name";
  }
  return "";
}

std::string_view find_fault(const LineChart& chart) {
  if (!is_number(chart.low) || !is_number(chart.high) || (chart.low != chart.high && !is_axis(chart.low, chart.high)))
    return "its axis has length 0";
  if (!are_decimals(chart.decimals)) return "its decimals are out of range";
  if (!are_lines(chart.vertical)) return "a value of it is too large";
  for (const LineSeries& s : chart.series) {
    if (s.x.size() != s.y.size() || (!s.interval.empty() && s.interval.size() != s.x.size()))
      return "its parts differ in size";
    if (!are_numbers(s.x) || !are_numbers(s.y) || !are_numbers(s.interval)) return "a value of it is too large";
    if (!is_css_class(s.css_class)) return "a css_class of it is not a name";
  }
  return "";
}

std::string_view find_fault(const ScatterChart& chart) {
  if (!is_axis(chart.low_x, chart.high_x) || !is_axis(chart.low_y, chart.high_y)) return "its axes have length 0";
  for (const PointGroup& g : chart.groups) {
    if (g.x.size() != g.y.size()) return "its parts differ in size";
    if (!are_numbers(g.x) || !are_numbers(g.y)) return "a value of it is too large";
    if (g.columns < 1 || g.columns > kMostPhotoColumns) return "its columns of photos are out of range";
  }
  return "";
}

std::string_view find_fault(const HeatMap& chart) {
  if (chart.percent.size() != chart.labels.size()) return "its parts differ in size";
  for (const auto& row : chart.percent) {
    if (row.size() != chart.labels.size()) return "its parts differ in size";
    if (!are_numbers(row)) return "a value of it is too large";
  }
  return "";
}

std::string_view find_fault(const PictureChart&) { return ""; }

/// Throws Error that names `name` unless the section can be drawn: its parts fit together and a chart can show its
/// numbers.
void check_section(const Section& section, const std::string& name) {
  for (const ReportTable& table : section.tables) {
    if (table.columns.empty()) fail("{}: the table '{}' has no columns", name, excerpt(table.caption));
    for (const auto& row : table.rows) {
      if (row.size() != table.columns.size())
        fail("{}: a table row has {} cells for {} columns", name, row.size(), table.columns.size());
    }
  }
  for (const Figure& figure : section.figures) {
    const std::string_view fault = std::visit([](const auto& chart) { return find_fault(chart); }, figure);
    if (!fault.empty()) fail("{}: the figure '{}' is damaged: {}", name, excerpt(id_of(figure)), fault);
  }
}

using nlohmann::json;

const char* kind_of(const BarChart&) { return "bars"; }
const char* kind_of(const LineChart&) { return "lines"; }
const char* kind_of(const ScatterChart&) { return "points"; }
const char* kind_of(const HeatMap&) { return "matrix"; }
const char* kind_of(const PictureChart&) { return "pictures"; }

template <typename Chart>
bool read_as(const json& object, Figure& figure) {
  if (object.at("kind") != kind_of(Chart{})) return false;
  figure = object.get<Chart>();
  return true;
}

}  // namespace

Svg draw(const Figure& figure) {
  return std::visit([](const auto& chart) { return draw(chart); }, figure);
}

const std::string& id_of(const Figure& figure) {
  return std::visit([](const auto& chart) -> const std::string& { return chart.id; }, figure);
}

const std::string& title_of(const Figure& figure) {
  return std::visit([](const auto& chart) -> const std::string& { return chart.title; }, figure);
}

json analysis_json(const AnalysisFile& file, const json& data) {
  return {{"header", file.header},         {"command", file.command}, {"episodes_hash", file.episodes_hash},
          {"analysis", file.section.name}, {"section", file.section}, {"data", data}};
}

AnalysisFile parse_analysis(const json& parsed, const std::string& name) {
  if (!parsed.is_object() || !parsed.contains("analysis")) fail("{} is not a file of `protocom analyse`", name);
  AnalysisFile file;
  try {
    parsed.at("section").get_to(file.section);
    file.command = parsed.value("command", "");
    file.episodes_hash = parsed.value("episodes_hash", "");
    file.header = parsed.value("header", json::object());
  } catch (const json::exception& error) {
    fail("{}: the analysis is damaged: {}", name, reason_of(error));
  }
  check_section(file.section, name);
  return file;
}

}  // namespace protocom

namespace nlohmann {

void adl_serializer<protocom::Figure>::to_json(json& out, const protocom::Figure& figure) {
  std::visit(
      [&](const auto& chart) {
        out = chart;
        out["kind"] = protocom::kind_of(chart);
      },
      figure);
}

void adl_serializer<protocom::Figure>::from_json(const json& object, protocom::Figure& figure) {
  using namespace protocom;
  if (read_as<BarChart>(object, figure) || read_as<LineChart>(object, figure) ||
      read_as<ScatterChart>(object, figure) || read_as<HeatMap>(object, figure) ||
      read_as<PictureChart>(object, figure)) {
    return;
  }
  throw json::other_error::create(501, "a figure of an unknown kind", &object);
}

}  // namespace nlohmann
