#pragma once
#include <string>
#include <vector>

#include "report/workbench.h"

namespace protocom {

/// An analysis of the workbench.
struct Analysis {
  std::string name;                          ///< one of section_names()
  AnalysisOutcome (*run)(Workbench& bench);  ///< computes numbers and their presentation
  /// Returns why it is not possible with these inputs, as text that follows its name ("needs a completion model:
  /// --model"); empty if it is. Null if it is always possible.
  std::string (*obstacle)(const Workbench& bench) = nullptr;
};

/// Returns analyses of accuracy over a series of values: shots, wrong knowledge, ways, queries, imbalance, base
/// classes, unlabelled images.
std::vector<Analysis> series_analyses();
/// Returns analyses of the paper's rows: the ablation, cosines to the true centres, the attributes used, what fusion
/// did to episodes.
std::vector<Analysis> paper_analyses();
/// Returns analyses of features, without episodes: their distribution, single images, the nearest images.
std::vector<Analysis> image_analyses();
/// Returns analyses of answers to single queries: classes, calibration, failures, none of these, novel with base
/// classes.
std::vector<Analysis> answer_analyses();

/// Prefix of an obstacle that lies in the data; the others lie in the options.
inline constexpr const char* kTooFew = "needs more";

}  // namespace protocom
