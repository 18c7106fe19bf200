#pragma once
#include <string>

#include "protocom/eval/results_file.h"
#include "protocom/report/section.h"

namespace protocom {

/// "+4.0" or "−1.2", with a true minus sign; "0.0" for what rounds to nothing.
std::string signed_number(double value, int decimals);

/// One line about the task with the fewest shots: the most accurate method of each mode and its gain over the class
/// mean, both with their intervals.
std::string headline(const Evaluation& evaluation);

/// What knowledge adds on the same episodes to the methods that a task has with and without it, a column for each task;
/// without rows where there is no such method.
ReportTable knowledge_table(const Evaluation& evaluation);

/// What `fit` and `complete` said of the knowledge, in sentences.
std::vector<std::string> knowledge_findings(const Evaluation& evaluation);

}  // namespace protocom
