#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "eval/evaluation_tasks.h"

namespace protocom {

/// Measures how many episodes of a list a method answers per second, on one thread and in processor time: without
/// drawing them, and with the table of features already in the method's space. Uses some of the list's first episodes,
/// for half a second.
double episodes_per_second(const EvaluateInputs& inputs, const EpisodeList& list,
                           const std::shared_ptr<const Method>& method);

/// Adds that as `episodes_per_second` to each result of findings_json() of these tasks and methods.
void add_speeds(const EvaluateInputs& inputs, const std::vector<EvaluationTask>& tasks, const Methods& methods,
                nlohmann::json& findings);

}  // namespace protocom
