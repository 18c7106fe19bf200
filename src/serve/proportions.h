#pragma once
#include <ATen/core/Tensor.h>

#include "protocom/serve/class_scorer.h"

namespace protocom {

/// Logs a warning where a method that expects balanced queries is given others: judged alone, most are of one class.
void warn_of_proportions(const ClassScorer& scorer, const EnrolledClasses& enrolled, const StoreModel& model,
                         const at::Tensor& features);

}  // namespace protocom
