#include "cli.h"
#include "workbench.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

void print_section(const Section& section) {
  fmt::print("\n{}\n{}\n", section.title, section.finding);
  for (const ReportTable& table : section.tables) {
    std::vector<std::vector<std::string>> rows = {table.columns};
    rows.insert(rows.end(), table.rows.begin(), table.rows.end());
    print_table(rows);
  }
}

/// Writes the JSON and every figure, prints the table.
class Writer {
 public:
  Writer(const CLI::App& command, const AnalyseOptions& options) : folder_(options.out), png_(options.png) {
    fs::create_directories(folder_);
    check_writable(folder_ / "analysis.json");
    Provenance provenance = provenance_of(command, options.episodes.seed);
    provenance.command = "analyse " + command.get_name();
    add_input(provenance, "features", options.features);
    add_input(provenance, "knowledge", options.knowledge);
    add_input(provenance, "model", options.model);
    add_input(provenance, "class-split", options.class_split);
    for (const std::string& path : options.results) add_input(provenance, fs::path(path).filename().string(), path);
    header_ = make_header("analysis", 1, provenance).to_json();
    command_ = "protocom analyse " + command.get_name();
    for (const CLI::Option* option : command.get_options()) {
      if (option->count() == 0) continue;
      command_ += " " + option->get_name();
      if (option->get_expected_max() > 0) command_ += fmt::format(" {}", fmt::join(option->results(), ","));
    }
  }

  void write(const AnalysisOutcome& outcome) const {
    const Section& section = outcome.section;
    write_file(folder_ / (section.name + ".json"),
               analysis_json({section, command_, outcome.episodes_hash, header_}, outcome.data)
                   .dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
    for (const Figure& figure : section.figures) {
      const Svg svg = draw(figure);
      write_file(folder_ / (id_of(figure) + ".svg"), svg.file());
      if (png_) write_file(folder_ / (id_of(figure) + ".png"), svg.png());
    }
    print_section(section);
  }

 private:
  fs::path folder_;
  bool png_;
  nlohmann::json header_;
  std::string command_;
};

void run_one(const CLI::App& command, const AnalyseOptions& options) {
  const Writer writer(command, options);
  writer.write(Workbench(options).run(command.get_name()));
}

void run_tables(const CLI::App& command, const AnalyseOptions& options) {
  Writer(command, options).write(compare_results(options));
}

void run_all(const CLI::App& command, const AnalyseOptions& options) {
  const Writer writer(command, options);
  Workbench workbench(options);
  for (const std::string& name : section_names()) {
    if (name != "tables") writer.write(workbench.run(name));
    if (name == "tables" && !options.results.empty()) writer.write(compare_results(options));
  }
}

using AddOptions = void (*)(CLI::App&, AnalyseOptions&);

void add_inputs(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--features", options.features, "Features (npz)")->required();
  command.add_option("--knowledge", options.knowledge, "Knowledge file")->required();
  command.add_option("--model", options.model, "Completion model")->required();
  command.add_option("--class-split", options.class_split, "Split that replaces the features' own (CSV class,split)");
  command.add_option("--split", options.split, "Classes that are analysed: base, val or novel");
  command.add_option("--seed", options.episodes.seed, "Seed of everything that is drawn");
}

void add_output(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--out", options.out, "Folder to write JSON and SVG to")->required();
  command.add_flag("--png", options.png, "Write every figure as PNG too");
}

void add_task(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--n-way", options.episodes.shape.n_way, "Classes an episode");
  command.add_option("--k-shot", options.episodes.shape.k_shot, "Labelled images a class");
  command.add_option("--n-query", options.episodes.shape.n_query, "Queries a class");
}

void add_episodes(CLI::App& command, AnalyseOptions& options) {
  add_task(command, options);
  command.add_option("--episodes", options.episodes.count, "Episodes");
}

void add_images(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--images", options.images, "Pack or folder of the images, for thumbnails");
}

void add_ablation(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--shots", options.shots, "Shots a task")->delimiter(',');
}

void add_shots(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--max-shots", options.max_shots, "Shots from 1 to this many")->check(CLI::PositiveNumber);
}

void add_noise(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--gamma", options.noise.gammas, "Noise levels")->delimiter(',');
  command.add_option("--draws", options.noise.draws, "Draws of the noise at each level");
}

void add_ways(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--ways", options.ways, "Numbers of classes; default: from 5 to all")->delimiter(',');
}

void add_unlabelled(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--unlabelled", options.unlabelled, "Numbers of unlabelled images a class")->delimiter(',');
}

void add_distribution(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--map-classes", options.distribution.classes, "Classes of each split on the maps");
  command.add_option("--map-images", options.distribution.images_per_class, "Images of each of them");
  command.add_option("--perplexity", options.distribution.tsne.perplexity, "Of t-SNE");
  command.add_option("--iterations", options.distribution.tsne.iterations, "Of t-SNE");
}

void add_single_images(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--window", options.window, "Ranks in the moving average");
}

void add_nearest(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--classes", options.classes, "Class names; default: random ones")->delimiter(',');
  command.add_option("--random-classes", options.shown_classes, "How many random ones");
  command.add_option("--neighbours", options.neighbours, "Images nearest and farthest, up to 5")
      ->check(CLI::Range(1, 5));
}

void add_method(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--method", options.method, "Whose predictions: mean, completed, mean-fusion, gauss-fusion");
}

void add_bins(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--bins", options.bins, "Bins of the reliability curve");
}

void add_mistakes(CLI::App& command, AnalyseOptions& options) {
  command.add_option("--mistakes", options.mistakes, "How many");
}

/// `protocom analyse NAME` with its groups of options.
CLI::App* add_analysis(CLI::App& parent, const std::string& name, const std::string& description,
                       const std::vector<AddOptions>& groups) {
  auto options = std::make_shared<AnalyseOptions>();
  CLI::App* command = add_command(
      parent, name, description,
      fmt::format(
          "protocom analyse {} --features features.npz --knowledge knowledge.npz --model model.npz --out analysis",
          name));
  add_inputs(*command, *options);
  for (const AddOptions add : groups) add(*command, *options);
  add_output(*command, *options);
  command->callback([command, options] { run_one(*command, *options); });
  return command;
}

void add_cosine(CLI::App& command, AnalyseOptions& options) {
  add_task(command, options);
  command.add_option("--episodes", options.cosine_episodes, "Episodes");
}

void add_tables_command(CLI::App& parent) {
  auto options = std::make_shared<AnalyseOptions>();
  CLI::App* command = add_command(parent, "tables", "Tables 1 and 2: methods by datasets and tasks",
                                  "protocom analyse tables tiny1.json tiny5.json cub1.json --out analysis");
  command->add_option("results", options->results, "What evaluate --json wrote")->required();
  add_output(*command, *options);
  command->callback([command, options] { run_tables(*command, *options); });
}

void add_all_command(CLI::App& parent) {
  auto options = std::make_shared<AnalyseOptions>();
  CLI::App* command = add_command(parent, "all", "Every analysis",
                                  "protocom analyse all --features features.npz --knowledge knowledge.npz --model "
                                  "model.npz --images images --out analysis\n"
                                  "protocom report result.json analysis --out report.html");
  add_inputs(*command, *options);
  for (const AddOptions add :
       {&add_episodes, &add_images, &add_ablation, &add_shots, &add_noise, &add_ways, &add_unlabelled,
        &add_distribution, &add_single_images, &add_nearest, &add_method, &add_bins, &add_mistakes})
    add(*command, *options);
  command->add_option("--cosine-episodes", options->cosine_episodes, "Episodes of table 3");
  command->add_option("--results", options->results, "Results for tables 1 and 2")->delimiter(',');
  add_output(*command, *options);
  command->callback([command, options] { run_all(*command, *options); });
}

void add_analyse_command(CLI::App& app) {
  CLI::App* command = add_command(app, "analyse", "The paper's tables and figures, and more, as JSON, SVG and text",
                                  "protocom analyse all --features features.npz --knowledge knowledge.npz --model "
                                  "model.npz --out analysis");
  command->require_subcommand(1);
  add_all_command(*command);
  add_tables_command(*command);
  add_analysis(*command, "ablation", "Table 4: what each part contributes", {&add_episodes, &add_ablation});
  add_analysis(*command, "cosine", "Table 3: how near prototypes come to the true centres", {&add_cosine});
  add_analysis(*command, "shots", "Figure 3a: accuracy by shots, and where the curves cross",
               {&add_episodes, &add_shots});
  add_analysis(*command, "noise", "Table 5: what wrong knowledge costs", {&add_episodes, &add_noise});
  add_analysis(*command, "ways", "Accuracy by classes to tell apart", {&add_episodes, &add_ways});
  add_analysis(*command, "unlabelled", "Accuracy by unlabelled images", {&add_episodes, &add_unlabelled});
  add_analysis(*command, "distribution", "Figure 1: base and novel classes in feature space", {&add_distribution});
  add_analysis(*command, "single-images", "Figure 5: prototypes from single images", {&add_single_images});
  add_analysis(*command, "nearest", "Figure 4: images nearest to and farthest from their class centre",
               {&add_images, &add_nearest});
  add_analysis(*command, "attention", "Which attributes were used, with what weight", {});
  add_analysis(*command, "classes", "Accuracy of each class, confusion matrix", {&add_episodes, &add_method});
  add_analysis(*command, "calibration", "Reliability curves, expected calibration error", {&add_episodes, &add_bins});
  add_analysis(*command, "episodes", "The episodes that lost most from fusion", {&add_episodes});
  add_analysis(*command, "failures", "The surest mistakes", {&add_episodes, &add_images, &add_method, &add_mistakes});
}

const Command kRegister{Order::kAnalyse, &add_analyse_command};

}  // namespace
}  // namespace protocom::cli
