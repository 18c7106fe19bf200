#pragma once
#include <string>
#include <vector>

#include "io/artefact.h"
#include "protocom/photo_choices.h"
#include "recognizer/recognizer.h"
#include "recognizer/series.h"
#include "shared_lines.h"

namespace CLI {
class App;
}

namespace protocom::cli {

/// What `protocom classify` is asked for.
struct ClassifyArguments {
  std::string recognizer, format = "table", out, features_out, series, groups;
  Provenance provenance;
  double series_gap = kSeriesGap;
  ResumeLines resume = ResumeLines::kNo;
  std::vector<std::string> images;
  RecognizerOptions recognizing;
  bool explain = false;
  std::vector<std::string> shares;
  BoxChoice boxes;
};

/// The answers' method, and what it takes the classes' shares to be.
void add_method_options(CLI::App& command, ClassifyArguments& options);
/// Where the answers go, and how they are written.
void add_format_options(CLI::App& command, ClassifyArguments& options);
/// Which photos share an answer.
void add_series_options(CLI::App& command, ClassifyArguments& options);
/// What is shown of an answer.
void add_answer_options(CLI::App& command, ClassifyArguments& options);

/// Reads the table of --groups.
void take_groups(ClassifyArguments& options);

/// Reads --shares for the recognizer. Throws UsageError for a text that is no class with its share.
void take_shares(ClassifyArguments& options);

}  // namespace protocom::cli
