#include "report/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "io/base64.h"
#include "report/detail/html_parts.h"
#include "report/is_informative.h"
#include "report/svg.h"

namespace protocom {
namespace {

/// Returns "image/png", "image/jpeg" or "image/webp", by the first bytes. Throws Error that names the file.
std::string media_type(std::string_view bytes, const std::string& name) {
  if (bytes.substr(0, 8) == "\x89PNG\r\n\x1a\n") return "image/png";
  if (bytes.substr(0, 3) == "\xff\xd8\xff") return "image/jpeg";
  if (bytes.substr(0, 4) == "RIFF" && bytes.size() >= 12 && bytes.substr(8, 4) == "WEBP") return "image/webp";
  fail("{} is not a PNG, JPEG or WebP picture", name);
}

std::string picture_html(const ReportPicture& picture) {
  return fmt::format(
      "<figure class=\"picture\"><img alt=\"{0}\" src=\"data:{1};base64,{2}\"><figcaption>{0}</figcaption></figure>\n",
      escape_html(picture.caption), media_type(picture.bytes, picture.name), base64(picture.bytes));
}

std::string finding_html(const Evaluation& evaluation, const char* css_class) {
  std::string html = fmt::format("<p class=\"{}\">{}</p>\n", css_class, escape_html(headline(evaluation)));
  for (const std::string& line : knowledge_findings(evaluation)) html += fmt::format("<p>{}</p>\n", prose_html(line));
  return html + fmt::format("<p class=\"soft\">{}</p>\n", escape_html(protocol_line(evaluation)));
}

/// Says what to expect for own photos, before the comparison of methods.
std::string top_html(const std::vector<Evaluation>& evaluations, const std::vector<AnalysisFile>& analyses) {
  if (evaluations.empty())
    return fmt::format("<p class=\"headline\">{}</p>\n", prose_html(analyses.front().section.finding));
  const std::string expected = expectation(evaluations.front(), analyses);
  return fmt::format("<p class=\"headline\">{}</p>\n",
                     escape_html(expected.empty() ? headline(evaluations.front()) : expected));
}

/// Returns the findings of the analyses, one line each that unfolds.
std::string analyses_html(const std::vector<AnalysisFile>& analyses) {
  std::string html;
  for (const AnalysisFile& analysis : analyses) html += section_html(analysis.section);
  return html.empty() ? "" : "<h2 id=\"analyses\">Analyses</h2>\n" + html;
}

std::string evaluations_html(const std::vector<Evaluation>& evaluations) {
  if (evaluations.empty()) return "";
  std::string html = "<section id=\"accuracy\">\n<h2>Accuracy of the methods</h2>\n";
  if (evaluations.size() > 1) html += "<h3>Side by side</h3>\n" + table_html(comparison_table(evaluations));
  for (size_t i = 0; i < evaluations.size(); ++i) {
    if (evaluations.size() > 1) html += fmt::format("<h3>{}</h3>\n", escape_html(evaluations[i].name));
    html += finding_html(evaluations[i], "finding");
    html += evaluation_html(evaluations[i], fmt::format("chart-{}", i));
  }
  return html + "</section>\n" + methods_html(evaluations) + how_to_read_html(evaluations);
}

/// Returns the analyses to show: without what "Side by side" and the evaluations already show, and without
/// uninformative ones.
std::vector<AnalysisFile> telling(const std::vector<Evaluation>& evaluations, const std::vector<AnalysisFile>& all) {
  std::vector<AnalysisFile> analyses;
  for (const AnalysisFile& analysis : all) {
    if (!is_informative(analysis.section) || (!evaluations.empty() && analysis.section.name == "tables")) continue;
    analyses.push_back(analysis);
    analyses.back().section = with_informative_figures(analysis.section);
  }
  return analyses;
}

/// Names the paper that tables and figures in titles refer to.
std::string paper_html(const std::vector<AnalysisFile>& analyses) {
  const bool named = std::any_of(analyses.begin(), analyses.end(), [](const AnalysisFile& analysis) {
    return analysis.section.title.find("Zhang et al. 2021") != std::string::npos;
  });
  return named ? "<p class=\"soft\">Zhang et al. 2021: Prototype Completion with Primitive Knowledge for Few-Shot "
                 "Learning, CVPR 2021 (arXiv 2009.04960).</p>\n"
               : "";
}

std::string reproduce_all(const std::vector<Evaluation>& evaluations, const std::vector<AnalysisFile>& analyses) {
  std::string html =
      "<details class=\"section\"><summary><h2>How to reproduce this</h2></summary>\n<section id=\"reproduce\">\n";
  for (const Evaluation& evaluation : evaluations) {
    if (evaluations.size() > 1) html += fmt::format("<h3>{}</h3>\n", escape_html(evaluation.name));
    html += reproduce_html(evaluation);
  }
  // `analyse` makes many analyses by one command from the same inputs, which is shown once.
  std::string last;
  std::string lists;
  for (const AnalysisFile& analysis : analyses) {
    const std::string own = reproduce_html(analysis);
    if (own != last) html += "<h3>Analyses</h3>\n" + own;
    last = own;
    if (!analysis.episodes_hash.empty())
      lists += fmt::format("<dt>{}</dt><dd><code>{}</code></dd>\n", escape_html(analysis.section.name),
                           escape_html(analysis.episodes_hash));
  }
  if (!lists.empty()) html += "<h3>Episodes of the analyses</h3>\n<dl>\n" + lists + "</dl>\n";
  return html +
         "<p class=\"soft\">Hashes are XXH3-128 of the files. The same inputs, options and seed give the same "
         "figures.</p>\n</section>\n</details>\n";
}

}  // namespace

std::string html_report(const std::vector<Evaluation>& evaluations, const ReportOptions& options) {
  if (evaluations.empty() && options.analyses.empty()) fail("a report needs at least one evaluation or analysis");
  std::vector<AnalysisFile> analyses = telling(evaluations, options.analyses);
  if (evaluations.empty() && analyses.empty()) analyses = options.analyses;  // nothing else to show
  const std::string top = top_html(evaluations, analyses);
  std::string body = first_screen_html(evaluations, analyses) + evaluations_html(evaluations);
  body += analyses_html(analyses) + paper_html(analyses);
  for (const ReportPicture& picture : options.pictures) body += picture_html(picture);
  body += reproduce_all(evaluations, options.analyses);
  const std::string heading = fmt::format("<h1 id=\"top\">{}</h1>\n", escape_html(options.title));
  return page_html(options.title, contents_html(evaluations, analyses, body), heading + top + body);
}

std::string page_html(const std::string& title, const std::string& contents, const std::string& main,
                      const std::string& style) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
      "<style>{}{}</style>\n</head>\n<body>\n<div class=\"page\">\n{}<main>\n{}</main>\n</div>\n</body>\n</html>\n",
      escape_html(title), report_style(), style, contents, main);
}

}  // namespace protocom
