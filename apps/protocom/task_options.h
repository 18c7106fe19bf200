#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "protocom/eval/evaluation_tasks.h"

namespace protocom::cli {

/// What a user says of the tasks to evaluate: episodes to draw, or a file of them.
struct TaskArguments {
  TaskOptions tasks;
  std::string split{to_string(tasks.split)};
  std::string query_distribution{to_string(tasks.shape.query_distribution)};
  uint64_t seed = tasks.seeds.front();
  std::vector<uint64_t> seeds;
  std::string episodes_file, save_episodes;

  /// Whether there is one list of episodes, which can be saved.
  [[nodiscard]] bool is_one_list() const { return tasks.shots.size() <= 1 && seeds.size() <= 1; }
};

/// Adds --split, --n-way, --k-shot, --n-query, --query-distribution, --alpha, --episodes, --seed and --seeds.
/// `arguments` must outlive the command.
void add_draw_options(CLI::App& command, TaskArguments& arguments);

/// These, --unlabelled, --episodes-file and --save-episodes.
void add_task_options(CLI::App& command, TaskArguments& arguments);

/// Lowers the classes per episode to those that `split` has, with a warning, unless --n-way asks for a number.
void take_fewer_ways(const CLI::App& command, const FeatureSet& features, Split split, EpisodeShape& shape);

/// Draws the tasks, or reads them. Throws UsageError for words it does not know, and what draw_tasks and read_episodes
/// throw.
std::vector<Task> tasks_of(const CLI::App& command, TaskArguments& arguments, const FeatureSet& features);

}  // namespace protocom::cli
