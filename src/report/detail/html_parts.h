#pragma once
#include <optional>
#include <string>
#include <vector>

#include "eval/results_file.h"
#include "report/headline.h"
#include "report/section.h"

namespace protocom {

/// Returns the style sheet of a page: palette, page, figures.
std::string report_style();

/// Returns a whole page with the style sheet and the additional `style`: links to its parts beside its main content.
std::string page_html(const std::string& title, const std::string& contents, const std::string& main,
                      const std::string& style = "");

/// Escapes text; a percent sign stays with its number.
std::string prose_html(const std::string& text);

/// Escapes text; short words with a hyphen ("1-shot") stay on one line too.
std::string unbroken_html(const std::string& text);

/// Returns a card with a chart under its title.
std::string figure_html(const Figure& figure);

/// Returns a table that scrolls by itself on a narrow screen.
std::string table_html(const ReportTable& table);

/// For readers who want to know what to do with their own photos: returns two charts, what to do next, and the classes
/// that are wrong most often with their photos, which are removed from their section of `analyses`. Empty parts are
/// left out.
std::string first_screen_html(const std::vector<Evaluation>& evaluations, std::vector<AnalysisFile>& analyses);

/// Returns links to the parts of the page that are in `body`.
std::string contents_html(const std::vector<Evaluation>& evaluations, const std::vector<AnalysisFile>& analyses,
                          const std::string& body);

/// Returns the table of contents from list items with the links.
std::string contents_of(const std::string& items);

/// Returns the results of the best inductive method (of the task with the fewest shots; of the best of all if none is
/// inductive) in plain tasks of equally many classes, by increasing shots.
std::vector<const MethodResult*> rows_of_best(const Evaluation& evaluation);

/// Returns the gain of a method by knowledge on its task; nothing if it was not measured with and without.
std::optional<Estimate> knowledge_gain(const Evaluation& evaluation, const MethodResult& method);

/// Describes what each method does, once for all evaluations.
std::string methods_html(const std::vector<Evaluation>& evaluations);

/// Explains the numbers of evaluations and the modes of their methods; empty without evaluations.
std::string how_to_read_html(const std::vector<Evaluation>& evaluations);

/// Returns the figures of one evaluation: table and charts. `id` makes the charts' ids unique.
std::string evaluation_html(const Evaluation& evaluation, const std::string& id);

/// Returns "600 episodes of 15 queries per class, drawn from 20 classes of the novel split."
std::string protocol_line(const Evaluation& evaluation);

/// Returns one analysis: its title and finding, which unfold its tables and figures, with the id "analysis-<name>".
std::string section_html(const Section& section);

/// Return the command and hashes of one evaluation, and of one analysis.
std::string reproduce_html(const Evaluation& evaluation);
std::string reproduce_html(const AnalysisFile& analysis);

}  // namespace protocom
