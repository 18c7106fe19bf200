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

/// The options of `protocom classify`.
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

/// Adds options for the method and the class shares.
void add_method_options(CLI::App& command, ClassifyArguments& options);
/// Adds options for the output and its format.
void add_format_options(CLI::App& command, ClassifyArguments& options);
/// Adds options for photos that share an answer.
void add_series_options(CLI::App& command, ClassifyArguments& options);
/// Adds options for the content of an answer.
void add_answer_options(CLI::App& command, ClassifyArguments& options);

/// Reads the table of --groups.
void take_groups(ClassifyArguments& options);

/// Reads --shares for the recognizer. Throws UsageError for a text that is not a class with its share.
void take_shares(ClassifyArguments& options);

}  // namespace protocom::cli
