#pragma once
#include <string>
#include <vector>

#include "eval/results_file.h"
#include "report/headline.h"
#include "report/section.h"

namespace protocom {

/// A picture to be embedded.
struct ReportPicture {
  std::string bytes;  ///< a PNG, JPEG or WebP file
  std::string caption;
  std::string name;  ///< the file's, for messages
};

/// What else the report shows.
struct ReportOptions {
  std::string title = "Few-shot classification with class knowledge";
  std::vector<ReportPicture> pictures;
  std::vector<AnalysisFile> analyses;  ///< in the order of the page
};

/// One HTML page that needs nothing else (no network, no scripts): the findings first, then tables, figures, analyses,
/// pictures, and how to reproduce them. Throws Error when a picture is of an unknown format, or there is neither an
/// evaluation nor an analysis.
std::string html_report(const std::vector<Evaluation>& evaluations, const ReportOptions& options = {});

/// Methods by (dataset, task), accuracy in percent with its interval: tables 1 and 2 of the paper. A method that uses
/// unlabelled images carries a *. The best of each column is marked with a check mark.
ReportTable comparison_table(const std::vector<Evaluation>& evaluations);

}  // namespace protocom
