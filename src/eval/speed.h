#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "eval/evaluation_tasks.h"

namespace protocom {

/// Episodes of a list that a method answers a second, on one thread and by processor time: without drawing them, and
/// with the table of features already in the method's space. Some of the list's first episodes, for half a second.
double episodes_per_second(const EvaluateInputs& inputs, const EpisodeList& list,
                           const std::shared_ptr<const Method>& method);

/// Adds that as `episodes_per_second` to each result of findings_json() of these tasks and methods.
void add_speeds(const EvaluateInputs& inputs, const std::vector<EvaluationTask>& tasks, const Methods& methods,
                nlohmann::json& findings);

}  // namespace protocom
