#include "task_options.h"

#include "base/log.h"
#include "file_options.h"

namespace protocom::cli {

void add_draw_options(CLI::App& command, TaskOptions& tasks) {
  add_word(command, "--split", tasks.split, &parse_split, "Classes the episodes are drawn from: base, val or novel");
  command.add_option("--n-way", tasks.shape.n_way, "Classes per episode");
  add_list_option(
      command, "--k-shot", tasks.shots,
      "Labelled images per class; a list evaluates each, a range such as 1-5 draws a number for each class");
  command.add_option("--n-query", tasks.shape.n_query, "Queries per class");
  add_word(command, "--query-distribution", tasks.shape.query_distribution, &parse_query_distribution,
           "balanced, or dirichlet: the same number of queries in class proportions drawn from Dirichlet(alpha)");
  command.add_option("--alpha", tasks.shape.alpha, "Parameter of the Dirichlet distribution; smaller is less balanced");
  command.add_option("--episodes", tasks.episodes, "Episodes");
  const auto take_seed = [&tasks](uint64_t seed) { tasks.seeds = {seed}; };
  auto* seed = command.add_option_function<uint64_t>("--seed", take_seed, "Seed of the episodes")
                   ->default_str(std::to_string(tasks.seeds.front()));
  const auto take_seeds = [&tasks](const std::vector<uint64_t>& seeds) { tasks.seeds = seeds; };
  command
      .add_option_function<std::vector<uint64_t>>("--seeds", take_seeds,
                                                  "Several seeds: figures of all together and of each")
      ->delimiter(',')
      ->excludes(seed);
}

void take_fewer_ways(const CLI::App& command, const FeatureSet& features, Split split, EpisodeShape& shape) {
  const CLI::Option* asked = command.get_option_no_throw("--n-way");
  const auto classes = static_cast<int64_t>(features.classes_of(split).size());
  if ((asked != nullptr && asked->count() > 0) || classes < 2 || classes >= shape.n_way) return;
  logger().warn("the split '{}' has {} classes: episodes are {}-way, not {}-way", to_string(split), classes, classes,
                shape.n_way);
  shape.n_way = classes;
}

std::vector<EvaluationTask> tasks_of(const CLI::App& command, const FeatureSet& features, TaskOptions tasks) {
  take_fewer_ways(command, features, tasks.split, tasks.shape);
  return draw_tasks(features, tasks);
}

}  // namespace protocom::cli
