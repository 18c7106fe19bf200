#pragma once
#include <string>

#include "eval/results_file.h"
#include "report/section.h"

namespace protocom {

/// Returns "+4.0" or "−1.2", with a true minus sign; "0.0" for a value that rounds to zero.
std::string signed_number(double value, int decimals);

/// Returns one line about the task with the fewest shots: the most accurate method of each mode and its gain over the
/// class mean, both with their intervals.
std::string headline(const Evaluation& evaluation);

/// Says what to expect of the best inductive method (of the task with the fewest shots), for readers who do not compare
/// methods: "5 classes at once: 82 of 100 right with 1 photo per class, 90 with 5 photos per class (plda, inductive)."
/// With the analysis "ways" among `analyses`, also for its largest number of classes. Accuracies in percent, rounded.
/// Tasks with other numbers of images or shares per class are left out; "" if there are only those. Without an
/// inductive method, uses the best of the others.
std::string expectation(const Evaluation& evaluation, const std::vector<AnalysisFile>& analyses = {});

/// Returns the gain by knowledge on the same episodes of the methods that a task has with and without it, one column
/// per task; without rows if there is no such method.
ReportTable knowledge_table(const Evaluation& evaluation);

/// Returns what `fit` and `complete` reported about the knowledge, in sentences.
std::vector<std::string> knowledge_findings(const Evaluation& evaluation);

}  // namespace protocom
