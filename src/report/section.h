#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "report/bar_chart.h"
#include "report/heat_map.h"
#include "report/line_chart.h"
#include "report/picture_chart.h"
#include "report/scatter_chart.h"

namespace protocom {

/// Any figure, as data: it is drawn when it is shown.
using Figure = std::variant<BarChart, LineChart, ScatterChart, HeatMap, PictureChart>;

Svg draw(const Figure& figure);
const std::string& id_of(const Figure& figure);
const std::string& title_of(const Figure& figure);

}  // namespace protocom

namespace nlohmann {

/// {"kind": "bars" | "lines" | "points" | "matrix" | "pictures", ...the chart's fields}. A specialisation, because
/// std::variant is not ours.
template <>
struct adl_serializer<protocom::Figure> {
  static void to_json(json& out, const protocom::Figure& figure);
  /// Throws json::exception for anything else.
  static void from_json(const json& object, protocom::Figure& figure);
};

}  // namespace nlohmann

namespace protocom {

/// A table of text; the first column names the rows.
struct ReportTable {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows = {};  ///< each as long as `columns`; a name's second line is shown small
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReportTable, caption, columns, rows)

/// Result of one analysis, ready to be shown.
struct Section {
  std::string name;          ///< of the analysis: "noise"
  std::string title;         ///< as shown
  std::string finding = {};  ///< one line, with figures and their intervals
  std::string how = {};      ///< how it was measured: episodes, classes, what is transductive
  std::vector<ReportTable> tables = {};
  std::vector<Figure> figures = {};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Section, name, title, finding, how, tables, figures)

/// An analysis as written by `protocom analyse`.
struct AnalysisFile {
  Section section;
  std::string command;                               ///< as typed
  std::string episodes_hash;                         ///< of the list, or lists, of episodes; empty without episodes
  nlohmann::json header = nlohmann::json::object();  ///< provenance
};

/// Returns {"header", "command", "episodes_hash", "analysis": name, "section", "data": the numbers}.
nlohmann::json analysis_json(const AnalysisFile& file, const nlohmann::json& data);

/// Reads such a file. Throws Error that names `name` if it is not one.
AnalysisFile parse_analysis(const nlohmann::json& parsed, const std::string& name);

}  // namespace protocom
