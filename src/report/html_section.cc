#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/detail/html_parts.h"
#include "report/svg.h"

namespace protocom {
namespace {

std::string paragraph(const char* css_class, const std::string& text) {
  return text.empty() ? "" : fmt::format("<p class=\"{}\">{}</p>\n", css_class, prose_html(text));
}

/// Returns the width of the longest word of a text at the font size of small tables.
double longest_word(const std::string& text) {
  constexpr double kFontSize = 14.4;
  double longest = 0.0;
  for (const std::string_view word : split_at(text, ' ')) longest = std::max(longest, text_width(word, kFontSize));
  return longest;
}

/// Aligns numbers right and words left.
const char* alignment(const ReportTable& table, size_t column) {
  static const std::string kNumeric = "0123456789+-";
  if (column == 0) return "";
  for (const auto& row : table.rows) {
    const std::string& cell = row[column];
    const bool sign = cell.empty() || cell.rfind("−", 0) == 0 || cell.rfind("–", 0) == 0 || cell.rfind("✓", 0) == 0;
    if (!sign && kNumeric.find(cell.front()) == std::string::npos) return " class=\"words\"";
  }
  return "";
}

/// Returns whether a table fits beside a figure. Words are broken, numbers are not.
bool is_narrow(const ReportTable& table) {
  constexpr double kRoom = 330.0;
  constexpr double kPadding = 11.0;
  constexpr double kNumberFont = 14.4;
  double width = 0.0;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const bool words = c == 0 || *alignment(table, c) != '\0';
    double widest = longest_word(table.columns[c]);
    for (const auto& row : table.rows)
      widest = std::max(widest, words ? longest_word(row[c]) : text_width(row[c], kNumberFont));
    width += widest + kPadding;
  }
  return width <= kRoom;
}

/// Shows the text after a line end in small print.
std::string row_head_html(const std::string& text) {
  const size_t end = text.find('\n');
  const std::string head = unbroken_html(text.substr(0, end));
  return end == std::string::npos ? head : fmt::format("{}<small>{}</small>", head, escape_html(text.substr(end + 1)));
}

std::string open_table_html(const ReportTable& table) {
  std::string html = fmt::format("<div class=\"card{}\">", is_narrow(table) ? "" : " wide");
  if (!table.caption.empty()) html += fmt::format("<p class=\"caption\">{}</p>\n", escape_html(table.caption));
  html += fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
                      escape_html(table.caption.empty() ? table.columns.front() : table.caption));
  for (size_t c = 0; c < table.columns.size(); ++c)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", alignment(table, c), unbroken_html(table.columns[c]));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += fmt::format("<tr><th scope=\"row\">{}</th>", row_head_html(row.front()));
    for (size_t c = 1; c < row.size(); ++c)
      html += fmt::format("<td{}>{}</td>", alignment(table, c), prose_html(row[c]));
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></div>\n";
}

}  // namespace

std::string figure_html(const Figure& figure) {
  const bool wide = std::holds_alternative<HeatMap>(figure);
  return fmt::format(
      "<figure class=\"card{}\"><figcaption>{}</figcaption>\n<div class=\"scroll\"{}>{}</div></figure>\n",
      wide ? " wide" : "", escape_html(title_of(figure)), wide ? " tabindex=\"0\"" : "", draw(figure).str());
}

std::string prose_html(const std::string& text) {
  std::string html = escape_html(text);
  for (size_t at = html.find(" %"); at != std::string::npos; at = html.find(" %", at)) html.replace(at, 1, "\u00a0");
  return html;
}

std::string unbroken_html(const std::string& text) {
  constexpr size_t kLongestUnbroken = 15;
  std::vector<std::string> words;
  for (const std::string_view piece : split_at(text, ' ')) {
    const std::string word = escape_html(std::string(piece));
    const bool hyphen = piece.size() <= kLongestUnbroken && piece.find('-') != std::string_view::npos;
    words.push_back(hyphen ? "<span class=\"nb\">" + word + "</span>" : word);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string table_html(const ReportTable& table) {
  constexpr size_t kMostOpen = 24;
  if (table.rows.size() <= kMostOpen) return open_table_html(table);
  return fmt::format("<details class=\"card wide rows\"><summary>{} ({} rows)</summary>\n{}</details>\n",
                     escape_html(table.caption.empty() ? table.columns.front() : table.caption), table.rows.size(),
                     open_table_html(table));
}

std::string section_html(const Section& section) {
  // The id is inside, so that a link to it opens the folded part.
  std::string html = fmt::format(
      "<details class=\"section\"><summary><h3>{}</h3><span class=\"soft\">{}</span></summary>\n"
      "<section id=\"analysis-{}\">\n",
      escape_html(section.title), prose_html(section.finding), escape_html(section.name));
  html += paragraph("soft", section.how);
  html += "<div class=\"charts\">";
  for (const Figure& figure : section.figures) html += figure_html(figure);
  for (const ReportTable& table : section.tables) html += table_html(table);
  return html + "</div>\n</section>\n</details>\n";
}

}  // namespace protocom
