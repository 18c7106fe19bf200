#pragma once
#include "fewshot/task_classifier.h"

namespace protocom {

/// Fills TaskInputs::described where there is a completion model. Throws UsageError for a model without knowledge.
void describe_task(TaskInputs& inputs);

}  // namespace protocom
