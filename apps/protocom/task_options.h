#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "eval/evaluation_tasks.h"

namespace protocom::cli {

/// Adds --split, --n-way, --k-shot, --n-query, --query-distribution, --alpha, --episodes, --seed and --seeds.
/// `tasks` must outlive the command.
void add_draw_options(CLI::App& command, TaskOptions& tasks);

/// Lowers the classes per episode to the number in `split`, with a warning, unless --n-way is given.
void take_fewer_ways(const CLI::App& command, const FeatureSet& features, Split split, EpisodeShape& shape);

/// Calls draw_tasks, with fewer ways if those were not requested. Throws what it throws.
std::vector<EvaluationTask> tasks_of(const CLI::App& command, const FeatureSet& features, TaskOptions tasks);

}  // namespace protocom::cli
