#pragma once
#include <optional>
#include <string>
#include <vector>

#include "eval/results_file.h"
#include "report/headline.h"
#include "report/section.h"

namespace protocom {

/// The style sheet of a page: palette, page, figures.
std::string report_style();

/// A whole page of the style sheet, and of what else is said in `style`: links to its parts beside its main content.
std::string page_html(const std::string& title, const std::string& contents, const std::string& main,
                      const std::string& style = "");

/// Text made safe, in which a percent sign stays with its number.
std::string prose_html(const std::string& text);

/// The same, in which short words with a hyphen ("1-shot") stay on one line too.
std::string unbroken_html(const std::string& text);

/// A card with a chart under its title.
std::string figure_html(const Figure& figure);

/// A table that scrolls by itself where the screen is narrow.
std::string table_html(const ReportTable& table);

/// For who asks what to do with own photos: two charts, what to do next, the classes that are wrong most often with
/// their photos, which leave their section of `analyses`. Empty parts are left out.
std::string first_screen_html(const std::vector<Evaluation>& evaluations, std::vector<AnalysisFile>& analyses);

/// Links to the parts of the page that are in `body`.
std::string contents_html(const std::vector<Evaluation>& evaluations, const std::vector<AnalysisFile>& analyses,
                          const std::string& body);

/// The same of list items with the links.
std::string contents_of(const std::string& items);

/// The results of the best inductive method (of the task with the fewest shots; of the best of all if none is
/// inductive) in plain tasks of as many classes, by rising shots.
std::vector<const MethodResult*> rows_of_best(const Evaluation& evaluation);

/// What knowledge adds to a method on its task; nothing if it was not measured with and without.
std::optional<Estimate> knowledge_gain(const Evaluation& evaluation, const MethodResult& method);

/// What each method does, once for all evaluations.
std::string methods_html(const std::vector<Evaluation>& evaluations);

/// What the numbers of evaluations mean, and the modes of their methods; nothing without evaluations.
std::string how_to_read_html(const std::vector<Evaluation>& evaluations);

/// The figures of one evaluation: table and charts. `id` makes the charts' ids unique.
std::string evaluation_html(const Evaluation& evaluation, const std::string& id);

/// "600 episodes of 15 queries per class, drawn from 20 classes of the novel split."
std::string protocol_line(const Evaluation& evaluation);

/// One analysis: its title and finding, which unfold its tables and figures, with the id "analysis-<name>".
std::string section_html(const Section& section);

/// The command and hashes of one evaluation, and of one analysis.
std::string reproduce_html(const Evaluation& evaluation);
std::string reproduce_html(const AnalysisFile& analysis);

}  // namespace protocom
