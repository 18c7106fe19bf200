#include <fmt/format.h>

#include "base/json_text.h"
#include "report/detail/html_parts.h"
#include "report/svg.h"

namespace protocom {
namespace {

using nlohmann::json;

std::string definition(const std::string& name, const json& value, const char* tag) {
  const std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
  return fmt::format("<dt>{0}</dt><dd><{2}>{1}</{2}></dd>\n", escape_html(name), escape_html(text), tag);
}

std::string command_html(const std::string& command) {
  return command.empty() ? "" : fmt::format("<pre>{}</pre>\n", escape_html(command));
}

/// Returns seed, version and hashes of a header, without its features, which the caller may show already.
std::string provenance_html(const json& header, const char* left_out) {
  std::string html;
  if (header.contains("seed")) html += definition("seed", header.at("seed"), "span");
  if (header.contains("program_version")) html += definition("protocom", header.at("program_version"), "span");
  if (!header.contains("inputs") || !header.at("inputs").is_object()) return html;
  for (const auto& [name, hash] : header.at("inputs").items()) {
    if (name != left_out) html += definition(name, hash, "code");
  }
  return html;
}

/// Returns what was checked while the evaluation ran.
std::string checks_html(const json& checks) {
  if (!checks.is_object()) return "";
  std::string html;
  for (const auto& [name, check] : checks.items()) {
    if (check.is_object() && check.contains("what") && check.at("what").is_string())
      html += fmt::format("<li>{}</li>\n", escape_html(check.at("what").get<std::string>()));
  }
  return html.empty() ? "" : "<p>Checked while it ran:</p>\n<ul class=\"findings\">\n" + html + "</ul>\n";
}

}  // namespace

std::string reproduce_html(const Evaluation& evaluation) {
  std::string html = command_html(evaluation.command) + "<dl>\n";
  if (evaluation.dataset.contains("features_hash"))
    html += definition("features", evaluation.dataset.at("features_hash"), "code");
  html += provenance_html(evaluation.header, "features");
  if (!evaluation.episodes_hash.empty()) html += definition("episodes", evaluation.episodes_hash, "code");
  return html + "</dl>\n" + checks_html(evaluation.checks);
}

std::string reproduce_html(const AnalysisFile& analysis) {
  return command_html(analysis.command) + "<dl>\n" + provenance_html(analysis.header, "") + "</dl>\n";
}

}  // namespace protocom
