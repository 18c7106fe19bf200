#include "analysis_options.h"
#include "analysis_writer.h"
#include "protocom/data/image_finder.h"
#include "protocom/report/thumbnail.h"
#include "task_options.h"

namespace protocom::cli {
namespace {

AnalysisWriter writer_of(const CLI::App& command, const AnalysisOptions& options) {
  Provenance provenance = provenance_of(command, options.analyse.episodes.seed);
  options.files.add_to(provenance);
  for (const auto& path : options.results) add_input(provenance, std::filesystem::path(path).filename().string(), path);
  AnalysisWriter writer(command, options.out, std::move(provenance));
  if (options.png) writer.also_png();
  return writer;
}

AnalysisOutcome compare_results(const AnalysisOptions& options) {
  std::vector<Evaluation> evaluations;
  for (const std::string& path : options.results) evaluations.push_back(read_evaluation(path));
  const Section section = tables_section(evaluations);
  return {section, section.tables.front()};
}

/// Reads what the analyses need and runs those named.
void run_analyses(const CLI::App& command, AnalysisOptions& options, const std::vector<std::string>& names) {
  options.analyse.episodes.split = parse_split(options.split);
  const AnalysisWriter writer = writer_of(command, options);
  if (!options.analyse.methods.empty()) make_methods(options.analyse.methods);  // a wrong name is said first
  const EvaluationData data = read_files(options.files);
  take_fewer_ways(command, data.features, options.analyse.episodes.split, options.analyse.episodes.shape);
  const ImageFinder images(options.images);
  const auto picture = [&](const std::string& id) { return thumbnail(images, id); };
  Workbench workbench({data.inputs(), data.knowledge ? &*data.knowledge : nullptr, picture, data.fitted},
                      options.analyse, progress());
  for (const std::string& name : names) {
    const std::string obstacle = name == "tables" ? "" : workbench.obstacle(name);
    if (name == "tables") {
      if (!options.results.empty()) writer.write(compare_results(options));
    } else if (names.size() == 1 || obstacle.empty()) {
      writer.write(workbench.run(name));
    } else {
      logger().info("'{}' is left out: it {}", name, obstacle);
    }
  }
}

/// An analysis that is a command of its own: `protocom analyse NAME` with its groups of options.
struct AnalysisCommand {
  const char* name;
  const char* description;
  std::vector<AddOptions> groups;
};

void add_analysis(CLI::App& parent, const AnalysisCommand& one) {
  auto options = std::make_shared<AnalysisOptions>();
  CLI::App* command = add_command(
      parent, one.name, one.description,
      fmt::format("protocom analyse {0} --features features.npz --knowledge knowledge.npz --model model.npz --out "
                  "analysis\n"
                  "protocom analyse {0} --features features.npz --knowledge knowledge.npz --fitted plda.npz --out "
                  "analysis",
                  one.name));
  add_inputs(*command, *options);
  for (const AddOptions add : one.groups) add(*command, *options);
  add_output(*command, *options);
  command->callback([command, options] { run_analyses(*command, *options, {command->get_name()}); });
}

void add_tables_command(CLI::App& parent) {
  auto options = std::make_shared<AnalysisOptions>();
  CLI::App* command = add_command(parent, "tables", "Tables 1 and 2: methods by datasets and tasks",
                                  "protocom analyse tables tiny1.json tiny5.json cub1.json --out analysis");
  command->add_option("results", options->results, "What evaluate --json wrote")->required();
  add_output(*command, *options);
  command->callback([command, options] { writer_of(*command, *options).write(compare_results(*options)); });
}

void add_all_command(CLI::App& parent) {
  auto options = std::make_shared<AnalysisOptions>();
  CLI::App* command = add_command(parent, "all", "Every analysis",
                                  "protocom analyse all --features features.npz --knowledge knowledge.npz --model "
                                  "model.npz --images images --out analysis\n"
                                  "protocom report result.json analysis --out report.html");
  add_inputs(*command, *options);
  for (const AddOptions add :
       {&add_methods,    &add_episodes,     &add_images,        &add_ablation,  &add_shots,
        &add_noise,      &add_ways,         &add_queries,       &add_imbalance, &add_base_classes,
        &add_unlabelled, &add_distribution, &add_single_images, &add_nearest,   &add_method,
        &add_bins,       &add_mistakes,     &add_few_shots,     &add_others,    &add_base_shots})
    add(*command, *options);
  command->add_option("--cosine-episodes", options->analyse.cosine_episodes, "Episodes of table 3");
  command->add_option("--results", options->results, "Results for tables 1 and 2")->delimiter(',');
  add_output(*command, *options);
  command->callback([command, options] { run_analyses(*command, *options, section_names()); });
}

const std::vector<AnalysisCommand>& analysis_commands() {
  static const std::vector<AnalysisCommand> kCommands = {
      {"ablation", "Table 4: what each part contributes", {&add_episodes, &add_ablation}},
      {"cosine", "Table 3: how near prototypes come to the true centres", {&add_methods, &add_cosine}},
      {"shots", "Figure 3a: accuracy by shots, and where the curves cross", {&add_methods, &add_episodes, &add_shots}},
      {"noise", "Table 5: what wrong knowledge costs", {&add_methods, &add_episodes, &add_noise}},
      {"ways", "Accuracy by classes to tell apart", {&add_methods, &add_episodes, &add_ways}},
      {"queries",
       "Accuracy by queries, from which transductive methods learn",
       {&add_methods, &add_episodes, &add_queries}},
      {"imbalance",
       "Accuracy by how unequally queries are spread over classes",
       {&add_methods, &add_episodes, &add_imbalance}},
      {"base-classes",
       "Accuracy by base classes that methods are fitted on",
       {&add_methods, &add_episodes, &add_base_classes}},
      {"unlabelled", "Accuracy by unlabelled images", {&add_methods, &add_episodes, &add_unlabelled}},
      {"distribution", "Figure 1: base and novel classes in feature space", {&add_distribution}},
      {"single-images", "Figure 5: prototypes from single images", {&add_methods, &add_single_images}},
      {"nearest", "Figure 4: images nearest to and farthest from their class centre", {&add_images, &add_nearest}},
      {"attention", "Which attributes were used, with what weight", {}},
      {"classes", "Accuracy of each class, confusion matrix", {&add_methods, &add_episodes, &add_method}},
      {"calibration", "Reliability curves, expected calibration error", {&add_methods, &add_episodes, &add_bins}},
      {"episodes", "The episodes that lost most from fusion", {&add_episodes}},
      {"failures", "The surest mistakes", {&add_methods, &add_episodes, &add_images, &add_method, &add_mistakes}},
      {"unseen",
       "None of these: images of classes that were not given",
       {&add_methods, &add_episodes, &add_few_shots, &add_others}},
      {"generalised",
       "Novel and base classes told apart together",
       {&add_methods, &add_episodes, &add_few_shots, &add_base_shots}}};
  return kCommands;
}

void add_analyse_command(CLI::App& app) {
  CLI::App* command = add_command(app, "analyse", "The paper's tables and figures, and more, as JSON, SVG and text",
                                  "protocom analyse all --features features.npz --knowledge knowledge.npz --model "
                                  "model.npz --out analysis");
  command->require_subcommand(1);
  add_all_command(*command);
  add_tables_command(*command);
  for (const AnalysisCommand& one : analysis_commands()) add_analysis(*command, one);
}

const Command kAnalyse{Order::kAnalyse, &add_analyse_command};

}  // namespace
}  // namespace protocom::cli
