#include "protocom/report/section.h"

#include "protocom/core/error.h"
#include "report/figure_check.h"

namespace protocom {
namespace {

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
  if (!parsed.is_object() || !parsed.contains("analysis")) fail("{} is not what `protocom analyse` wrote", name);
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
