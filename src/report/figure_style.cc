#include "report/detail/figure_style.h"

#include <fmt/format.h>

#include <cstring>

namespace protocom {
namespace {

constexpr const char* kFontFamilies = "system-ui, -apple-system, \"Segoe UI\", Roboto, \"DejaVu Sans\", sans-serif";

/// Shows details under the pointer, without a script.
constexpr const char* kSpots =
    "svg .hit { fill: none; pointer-events: all; }\nsvg .peek { display: none; pointer-events: none; }\n"
    "svg .spot:hover > .peek { display: inline; }\n";

std::string colour_value(const char* name) {
  return std::strcmp(name, "series") == 0 ? "var(--series)" : fmt::format("var(--{})", name);
}

std::string variables(const char* PaletteColour::*mode) {
  std::string text;
  for (const PaletteColour& colour : palette()) text += fmt::format(" --{}: {};", colour.name, colour.*mode);
  return text;
}

std::string rule_css(const FigureRule& rule) {
  std::string text;
  if (rule.fill != nullptr) text += fmt::format(" fill: {};", colour_value(rule.fill));
  if (rule.opacity < 1.0) text += fmt::format(" fill-opacity: {};", rule.opacity);
  if (rule.stroke != nullptr)
    text += fmt::format(" stroke: {}; stroke-width: {};", colour_value(rule.stroke), rule.stroke_width);
  if (rule.dash > 0.0) text += fmt::format(" stroke-dasharray: {0} {0};", rule.dash);
  if (rule.font_size > 0.0)
    text += fmt::format(" font-size: {}px; font-variant-numeric: tabular-nums;", rule.font_size);
  if (rule.bold) text += " font-weight: 600;";
  return fmt::format("svg .{} {{{} }}\n", rule.css_class, text);
}

}  // namespace

const std::vector<PaletteColour>& palette() {
  static const std::vector<PaletteColour> kPalette = {
      {"page", "#fbfaf7", "#14171c"},          {"card", "#ffffff", "#1c2027"},
      {"ink", "#1d2129", "#eceef2"},           {"soft", "#596070", "#a9b1be"},
      {"line", "#dfe1e6", "#353b46"},          {"grid", "#e9ebef", "#2c313b"},
      {"good", "#1c7a4a", "#5cc490"},          {"bad", "#b3362f", "#f0857c"},
      {"m-mean", "#6a7180", "#a6aebb"},        {"m-completed", "#0068a8", "#4fb0ec"},
      {"m-mean-fusion", "#0a7d5a", "#35c493"}, {"m-gauss-fusion", "#bf4a12", "#f28c52"},
      {"extra-1", "#213a50", "#b7d5f0"},       {"extra-2", "#848415", "#dbdb24"},
      {"extra-3", "#9224db", "#ed91ed"},       {"extra-4", "#4a6b1a", "#a3c76a"},
      {"extra-5", "#743e74", "#db24b7"},       {"extra-6", "#5f3dc4", "#a594f9"},
      {"extra-7", "#6c0b04", "#c86556"},       {"extra-8", "#2b4f81", "#8fb3e8"},
      {"extra-9", "#381f32", "#fbd9f1"},       {"extra-10", "#254104", "#729258"},
      {"extra-11", "#5d9a07", "#bcfb87"},      {"extra-12", "#760f72", "#ba5db3"},
      {"extra-13", "#00127a", "#5381e6"},      {"extra-14", "#a33b1f", "#ff9d7a"},
      {"extra-15", "#33979a", "#99f8fa"},      {"extra-16", "#8c8865", "#d7d3ad"},
      {"extra-17", "#5b3d4f", "#9c7b8f"},      {"extra-18", "#a9719b", "#e3a8d4"},
      {"extra-19", "#7a4ab0", "#b894ea"},      {"extra-20", "#b6770b", "#b6770b"},
      {"extra-21", "#6b533a", "#ae9378"},      {"extra-22", "#480c80", "#966cd7"},
      {"extra-23", "#265149", "#76a399"},      {"extra-24", "#d35182", "#cf5582"},
      {"extra-25", "#db24db", "#db24db"},      {"extra-26", "#db2448", "#db2424"},
      {"extra-27", "#0b0b42", "#8a50e2"},      {"extra-28", "#246ddb", "#19809a"},
      {"extra-29", "#2424db", "#6a78af"},      {"extra-30", "#a65959", "#df3a5b"},
      {"extra-31", "#199a4c", "#24db24"},      {"extra-32", "#cc66b8", "#db2492"},
      {"extra-33", "#42160b", "#f1a7a7"},      {"extra-34", "#6e1237", "#a65969"},
      {"extra-35", "#c520a4", "#e665e6"},      {"extra-36", "#b0306e", "#ee7fb2"},
      {"extra-37", "#786aaf", "#936aaf"},      {"extra-38", "#8a630a", "#d9b24a"},
      {"extra-39", "#0b7285", "#3bc9db"},      {"extra-40", "#bf7340", "#86742d"},
      {"other-1", "#322d1b", "#6e8415"},       {"other-2", "#921daf", "#ae9cc9"},
      {"other-3", "#b365e6", "#af53c6"},       {"other-4", "#9a1933", "#df5b3a"},
      {"other-5", "#6e3712", "#cca366"},       {"other-6", "#334799", "#6565e6"},
      {"other-7", "#db2424", "#af571d"},       {"other-8", "#420b42", "#a65987"},
      {"other-9", "#917bea", "#a7a7f1"},       {"other-10", "#a67859", "#eddb91"},
      {"other-11", "#58490e", "#92af1d"},      {"other-12", "#5e9550", "#199a33"},
      {"hue-1", "#0068a8", "#4fb0ec"},         {"hue-2", "#bf4a12", "#f28c52"},
      {"hue-3", "#0a7d5a", "#35c493"},         {"hue-4", "#b0306e", "#ee7fb2"},
      {"hue-5", "#8a630a", "#d9b24a"},         {"hue-6", "#7a4ab0", "#b894ea"},
      {"hue-7", "#1d2129", "#eceef2"},         {"hue-8", "#848b99", "#7d8694"},
  };
  return kPalette;
}

bool is_series_class(std::string_view word) {
  return word.substr(0, 2) == "m-" || word.substr(0, 6) == "extra-" || word.substr(0, 6) == "other-" ||
         word.substr(0, 4) == "hue-";
}

const std::vector<FigureRule>& figure_rules() {
  static const std::vector<FigureRule> kRules = {
      {"paper", "card", nullptr, 0, 0, 1, 0, false},     {"label", "ink", nullptr, 0, 0, 1, 13, true},
      {"value", "ink", nullptr, 0, 0, 1, 13, true},      {"legend", "ink", nullptr, 0, 0, 1, 12, false},
      {"note", "soft", nullptr, 0, 0, 1, 11, false},     {"tick", "soft", nullptr, 0, 0, 1, 11, false},
      {"cell-text", "ink", nullptr, 0, 0, 1, 10, false}, {"cell-text-on", "card", nullptr, 0, 0, 1, 10, true},
      {"grid", nullptr, "grid", 1, 0, 1, 0, false},      {"axis", nullptr, "soft", 1, 0, 1, 0, false},
      {"reference", nullptr, "soft", 1, 3, 1, 0, false}, {"error", nullptr, "ink", 1.5, 0, 1, 0, false},
      {"bar", "series", nullptr, 0, 0, 1, 0, false},     {"band", "series", nullptr, 0, 0, 0.16, 0, false},
      {"curve", nullptr, "series", 2, 0, 1, 0, false},   {"mark", "series", "card", 1, 0, 1, 0, false},
      {"dot", "series", nullptr, 0, 0, 0.72, 0, false},  {"cell", "series", nullptr, 0, 0, 1, 0, false},
      {"empty", "grid", nullptr, 0, 0, 1, 0, false},     {"peek-box", "card", "soft", 1, 0, 1, 0, false},
  };
  return kRules;
}

const std::vector<DashRule>& dash_rules() {
  static const std::vector<DashRule> kRules = {
      {"dash-1", {7, 3}}, {"dash-2", {2, 3}}, {"dash-3", {9, 3, 2, 3}}, {"dash-4", {14, 3}}};
  return kRules;
}

std::string palette_css(std::string_view selector) {
  // Paper is white whatever the screen; the light colours are dark enough for it.
  return fmt::format(
      "\n{0} {{ color-scheme: light dark;{1} }}\n"
      "@media (prefers-color-scheme: dark) {{ {0} {{{2} }} }}\n"
      "@media print {{ {0} {{ color-scheme: light;{1} --page: #ffffff; }} }}\n",
      selector, variables(&PaletteColour::light), variables(&PaletteColour::dark));
}

std::string figure_css() {
  std::string text = fmt::format("svg text {{ fill: var(--ink); font: 13px {}; }}\n", kFontFamilies);
  for (const PaletteColour& colour : palette()) {
    if (is_series_class(colour.name)) text += fmt::format(".{0} {{ --series: var(--{0}); }}\n", colour.name);
  }
  for (const FigureRule& rule : figure_rules()) text += rule_css(rule);
  for (const DashRule& rule : dash_rules())
    text += fmt::format("svg .{} {{ stroke-dasharray: {}; }}\n", rule.css_class, fmt::join(rule.lengths, " "));
  return text + kSpots;
}

}  // namespace protocom
