#include "report/figure_check.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "protocom/core/error.h"

namespace protocom {
namespace {

constexpr double kLargest = 1e12;
constexpr double kShortestAxis = 1e-9;  // of the numbers at its ends, beyond which its ticks fall together
constexpr int kMostDecimals = 12;
constexpr int64_t kMostColumns = 1000;

bool is_number(double value) { return std::abs(value) <= kLargest; }

bool are_numbers(const std::vector<double>& values) { return std::all_of(values.begin(), values.end(), is_number); }

bool is_axis(double low, double high) {
  return is_number(low) && is_number(high) && high - low > kShortestAxis * std::max(std::abs(low), std::abs(high));
}

bool are_decimals(int decimals) { return decimals >= 0 && decimals <= kMostDecimals; }

/// What a page puts between the quotes of class="...".
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

/// What is wrong with a chart; empty: nothing.
std::string_view fault_of(const BarChart& chart) {
  if (!is_axis(chart.low, chart.high)) return "its axis has no length";
  if (!are_decimals(chart.decimals)) return "its decimals cannot be";
  if (!are_lines(chart.references)) return "a value of it is too large";
  for (const Bar& bar : chart.bars) {
    if (!is_number(bar.value) || !is_number(bar.interval)) return "a value of it is too large";
    if (!is_css_class(bar.css_class)) return "a css_class of it is not a name";
  }
  return "";
}

std::string_view fault_of(const LineChart& chart) {
  if (!is_number(chart.low) || !is_number(chart.high) || (chart.low != chart.high && !is_axis(chart.low, chart.high)))
    return "its axis has no length";
  if (!are_decimals(chart.decimals)) return "its decimals cannot be";
  if (!are_lines(chart.vertical)) return "a value of it is too large";
  for (const LineSeries& s : chart.series) {
    if (s.x.size() != s.y.size() || (!s.interval.empty() && s.interval.size() != s.x.size()))
      return "its parts differ in size";
    if (!are_numbers(s.x) || !are_numbers(s.y) || !are_numbers(s.interval)) return "a value of it is too large";
    if (!is_css_class(s.css_class)) return "a css_class of it is not a name";
  }
  return "";
}

std::string_view fault_of(const ScatterChart& chart) {
  if (!is_axis(chart.low_x, chart.high_x) || !is_axis(chart.low_y, chart.high_y)) return "its axes have no length";
  for (const PointGroup& g : chart.groups) {
    if (g.x.size() != g.y.size()) return "its parts differ in size";
    if (!are_numbers(g.x) || !are_numbers(g.y)) return "a value of it is too large";
    if (g.columns < 1 || g.columns > kMostColumns) return "its photos have no place";
  }
  return "";
}

std::string_view fault_of(const HeatMap& chart) {
  if (chart.percent.size() != chart.labels.size()) return "its parts differ in size";
  for (const auto& row : chart.percent) {
    if (row.size() != chart.labels.size()) return "its parts differ in size";
    if (!are_numbers(row)) return "a value of it is too large";
  }
  return "";
}

std::string_view fault_of(const PictureChart&) { return ""; }

}  // namespace

void check_section(const Section& section, const std::string& name) {
  for (const ReportTable& table : section.tables) {
    if (table.columns.empty()) fail("{}: the table '{}' has no columns", name, excerpt(table.caption));
    for (const auto& row : table.rows) {
      if (row.size() != table.columns.size())
        fail("{}: a table row has {} cells for {} columns", name, row.size(), table.columns.size());
    }
  }
  for (const Figure& figure : section.figures) {
    const std::string_view fault = std::visit([](const auto& chart) { return fault_of(chart); }, figure);
    if (!fault.empty()) fail("{}: the figure '{}' is damaged: {}", name, excerpt(id_of(figure)), fault);
  }
}

}  // namespace protocom
