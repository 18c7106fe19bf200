#pragma once
#include <string>
#include <vector>

#include "protocom/report/evaluation.h"

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
};

/// One HTML page that needs nothing else (no network, no scripts): the finding, tables, charts, and how to reproduce
/// them. Throws Error when a picture is of an unknown format or there is no evaluation.
std::string html_report(const std::vector<Evaluation>& evaluations, const ReportOptions& options = {});

}  // namespace protocom
