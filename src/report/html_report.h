#pragma once
#include <string>
#include <vector>

#include "eval/results_file.h"
#include "report/headline.h"
#include "report/section.h"

namespace protocom {

/// A picture to embed.
struct ReportPicture {
  std::string bytes;  ///< a PNG, JPEG or WebP file
  std::string caption;
  std::string name;  ///< of the file, for messages
};

/// Further content of the report.
struct ReportOptions {
  std::string title = "Few-shot classification with class knowledge";
  std::vector<ReportPicture> pictures;
  std::vector<AnalysisFile> analyses;  ///< in the order of the page
};

/// Returns one self-contained HTML page (no network, no scripts): the findings first, then tables, figures, analyses,
/// pictures, and how to reproduce them. Throws Error if a picture has an unknown format, or there is neither an
/// evaluation nor an analysis.
std::string html_report(const std::vector<Evaluation>& evaluations, const ReportOptions& options = {});

/// Returns methods by (dataset, task), accuracy in percent with its interval: tables 1 and 2 of the paper. A method
/// that uses unlabelled images is marked with *, the best of each column with a check mark.
ReportTable comparison_table(const std::vector<Evaluation>& evaluations);

}  // namespace protocom
