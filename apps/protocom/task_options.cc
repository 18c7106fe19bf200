#include "task_options.h"

#include "file_options.h"
#include "protocom/core/log.h"

namespace protocom::cli {

void add_draw_options(CLI::App& command, TaskArguments& arguments) {
  command.add_option("--split", arguments.split, "Classes the episodes are drawn from: base, val or novel");
  command.add_option("--n-way", arguments.tasks.shape.n_way, "Classes per episode");
  command
      .add_option("--k-shot", arguments.tasks.shots,
                  "Labelled images per class; a list evaluates each, a range such as 1-5 draws each class's number")
      ->delimiter(',');
  command.add_option("--n-query", arguments.tasks.shape.n_query, "Queries per class");
  command.add_option(
      "--query-distribution", arguments.query_distribution,
      "balanced, or dirichlet: the same number of queries in class proportions drawn from Dirichlet(alpha)");
  command.add_option("--alpha", arguments.tasks.shape.alpha,
                     "Parameter of the Dirichlet distribution; smaller is less balanced");
  command.add_option("--episodes", arguments.tasks.episodes, "Episodes");
  auto* seed = command.add_option("--seed", arguments.seed, "Seed of the episodes");
  command.add_option("--seeds", arguments.seeds, "Several seeds: figures of all together and of each")
      ->delimiter(',')
      ->excludes(seed);
}

void add_task_options(CLI::App& command, TaskArguments& arguments) {
  add_draw_options(command, arguments);
  command.add_option("--unlabelled", arguments.tasks.shape.unlabelled,
                     "Images per class of an unlabelled pool that transductive methods use instead of the queries");
  auto* file =
      command
          .add_option("--episodes-file", arguments.episodes_file, "Run these episodes (JSON) instead of drawing some")
          ->type_name(kInput);
  for (const char* drawn : {"--unlabelled", "--query-distribution", "--alpha", "--seeds"})
    file->excludes(command.get_option(drawn));
  command.add_option("--save-episodes", arguments.save_episodes, "Write the drawn episodes (JSON), for other programs")
      ->type_name(kOutput);
}

void take_fewer_ways(const CLI::App& command, const FeatureSet& features, Split split, EpisodeShape& shape) {
  const CLI::Option* asked = command.get_option_no_throw("--n-way");
  const auto classes = static_cast<int64_t>(features.classes_of(split).size());
  if ((asked != nullptr && asked->count() > 0) || classes < 2 || classes >= shape.n_way) return;
  logger().warn("the split '{}' has {} classes: episodes are {}-way, not {}-way", to_string(split), classes, classes,
                shape.n_way);
  shape.n_way = classes;
}

std::vector<Task> tasks_of(const CLI::App& command, TaskArguments& arguments, const FeatureSet& features) {
  if (!arguments.episodes_file.empty()) {
    EpisodeList list = read_episodes(arguments.episodes_file, features);
    const EpisodeShape shape = list.shape;
    return {{shape, {std::move(list)}}};
  }
  TaskOptions& tasks = arguments.tasks;
  tasks.split = parse_split(arguments.split);
  tasks.shape.query_distribution = parse_query_distribution(arguments.query_distribution);
  tasks.seeds = arguments.seeds.empty() ? std::vector<uint64_t>{arguments.seed} : arguments.seeds;
  take_fewer_ways(command, features, tasks.split, tasks.shape);
  return draw_tasks(features, tasks);
}

}  // namespace protocom::cli
