#include <fmt/format.h>

#include "protocom/report/svg.h"
#include "report/html_parts.h"

namespace protocom {
namespace {

std::string paragraph(const char* css_class, const std::string& text) {
  return text.empty() ? "" : fmt::format("<p class=\"{}\">{}</p>\n", css_class, escape_html(text));
}

}  // namespace

std::string figure_html(const Figure& figure) {
  const bool wide = std::holds_alternative<HeatMap>(figure);
  return fmt::format("<figure class=\"card{}\"><figcaption>{}</figcaption>\n{}</figure>\n", wide ? " wide scroll" : "",
                     escape_html(title_of(figure)), draw(figure).str());
}

std::string table_html(const ReportTable& table) {
  std::string html = "<div class=\"card scroll\" tabindex=\"0\"><table>\n";
  if (!table.caption.empty()) html += fmt::format("<caption>{}</caption>\n", escape_html(table.caption));
  html += "<thead><tr>";
  for (const std::string& column : table.columns) html += fmt::format("<th scope=\"col\">{}</th>", escape_html(column));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (size_t c = 0; c < row.size(); ++c) {
      html += c == 0 ? fmt::format("<th scope=\"row\">{}</th>", escape_html(row[c]))
                     : fmt::format("<td>{}</td>", escape_html(row[c]));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string section_html(const Section& section) {
  std::string html =
      fmt::format("<section id=\"analysis-{}\">\n<h2>{}</h2>\n", escape_html(section.name), escape_html(section.title));
  html += paragraph("finding", section.finding) + paragraph("soft", section.how);
  if (!section.figures.empty()) {
    html += "<div class=\"charts\">";
    for (const Figure& figure : section.figures) html += figure_html(figure);
    html += "</div>\n";
  }
  for (const ReportTable& table : section.tables) html += table_html(table);
  return html + "</section>\n";
}

}  // namespace protocom
