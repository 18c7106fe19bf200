#include <fmt/format.h>

#include "report/detail/html_parts.h"
#include "report/svg.h"

namespace protocom {
namespace {

/// Returns the title without the text in brackets: "Shots: when completion helps".
std::string short_title(const std::string& title) { return title.substr(0, title.find(" (")); }

std::string link(const std::string& id, const std::string& words) {
  return fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escape_html(id), escape_html(words));
}

}  // namespace

std::string contents_html(const std::vector<Evaluation>& evaluations, const std::vector<AnalysisFile>& analyses,
                          const std::string& body) {
  std::string items = link("top", evaluations.empty() ? "Findings" : "What to expect");
  for (const auto& [id, words] : {std::pair("next", "What to do next"), std::pair("worst", "Worst classes"),
                                  std::pair("accuracy", "Accuracy of the methods"), std::pair("methods", "Methods")}) {
    if (body.find(fmt::format("id=\"{}\"", id)) != std::string::npos) items += link(id, words);
  }
  std::string own;
  for (const AnalysisFile& analysis : analyses)
    own += link("analysis-" + analysis.section.name, short_title(analysis.section.title));
  if (!own.empty()) items += "<li><a href=\"#analyses\">Analyses</a>\n<ul>\n" + own + "</ul></li>\n";
  items += link("reproduce", "How to reproduce this");
  return contents_of(items);
}

std::string contents_of(const std::string& items) {
  // Beside the page if there is room, else folded above it: the same links in two lists, only one of which is shown.
  return "<nav class=\"side\" aria-label=\"Contents\"><ul>\n" + items +
         "</ul></nav>\n<details class=\"contents\"><summary>Contents</summary>\n<nav aria-label=\"Contents\"><ul>\n" +
         items + "</ul></nav></details>\n";
}

}  // namespace protocom
