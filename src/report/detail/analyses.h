#pragma once
#include <string>
#include <vector>

#include "report/workbench.h"

namespace protocom {

/// An analysis of the workbench.
struct Analysis {
  std::string name;                          ///< one of section_names()
  AnalysisOutcome (*run)(Workbench& bench);  ///< numbers and how they are shown
  /// Why it cannot be made of what is here, as what follows its name ("needs a completion model: --model"); empty
  /// where it can. Null if nothing can be in its way.
  std::string (*obstacle)(const Workbench& bench) = nullptr;
};

/// Accuracy over a series of values: shots, wrong knowledge, ways, queries, imbalance, base classes, unlabelled images.
std::vector<Analysis> series_analyses();
/// Of the paper's rows: the ablation, cosines to the true centres, the attributes used, what fusion did to episodes.
std::vector<Analysis> paper_analyses();
/// Of features, without an episode: their distribution, single images, the nearest images.
std::vector<Analysis> image_analyses();
/// Of answers to single queries: classes, calibration, failures, none of these, novel with base classes.
std::vector<Analysis> answer_analyses();

/// How an obstacle begins that lies in the data; the others lie in the options.
inline constexpr const char* kTooFew = "needs more";

}  // namespace protocom
