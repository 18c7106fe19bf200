#pragma once
#include <string>

#include "eval/results_file.h"
#include "report/section.h"

namespace protocom {

/// "+4.0" or "−1.2", with a true minus sign; "0.0" for what rounds to nothing.
std::string signed_number(double value, int decimals);

/// One line about the task with the fewest shots: the most accurate method of each mode and its gain over the class
/// mean, both with their intervals.
std::string headline(const Evaluation& evaluation);

/// What to expect of the best inductive method (of the task with the fewest shots), for readers who do not compare
/// methods: "5 classes at once: 82 of 100 right with 1 photo per class, 90 with 5 photos per class (plda, inductive)."
/// With the analysis "ways" among `analyses`, of the most classes that it has too. Accuracies in percent, rounded.
/// Tasks with other numbers of images or shares per class are left out; "" if there are only those. Without an
/// inductive method, of the best of the others.
std::string expectation(const Evaluation& evaluation, const std::vector<AnalysisFile>& analyses = {});

/// What knowledge adds on the same episodes to the methods that a task has with and without it, a column for each task;
/// without rows if there is no such method.
ReportTable knowledge_table(const Evaluation& evaluation);

/// What `fit` and `complete` said of the knowledge, in sentences.
std::vector<std::string> knowledge_findings(const Evaluation& evaluation);

}  // namespace protocom
