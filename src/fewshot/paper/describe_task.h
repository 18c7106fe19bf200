#pragma once
#include "fewshot/task_classifier.h"

namespace protocom {

/// Fills TaskInputs::described if there is a completion model. Throws UsageError for a model without knowledge.
void describe_task(TaskInputs& inputs);

}  // namespace protocom
