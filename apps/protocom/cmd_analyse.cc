#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "cli.h"
#include "datasets/image_finder.h"
#include "evaluation_inputs.h"
#include "io/base64.h"
#include "report/analysis_sections.h"
#include "report/is_informative.h"
#include "report/workbench.h"
#include "task_options.h"

namespace protocom::cli {
namespace {

/// The options of `protocom analyse`.
struct AnalysisOptions {
  EvaluationFiles files;
  std::string images, out;
  std::vector<std::string> only;  ///< names of analyses; empty: all that are possible
  std::vector<std::string> results;
  bool png = false;
  AnalyseOptions analyse;
};

void add_inputs(CLI::App& command, AnalysisOptions& options) {
  add_data_options(command, options.files);
  command.get_option("--features")->required(false);  // `--only tables` reads only results
  add_model_option(command, options.files);
  add_word(command, "--split", options.analyse.episodes.split, &parse_split,
           "Classes that are analysed: base, val or novel");
  command.add_option("--seed", options.analyse.episodes.seed, "Seed of all random draws");
  add_input_option(command, "--images", options.images, "Pack or folder of the images, for thumbnails");
  add_input_option(command, "--results", options.results, "Results of evaluate --json, for tables 1 and 2")
      ->delimiter(',');
}

void add_methods(CLI::App& command, AnalysisOptions& options) {
  add_methods_option(command, options.analyse.methods,
                     "Methods with their parameters, see protocom methods; default: those of --fitted, with and "
                     "without knowledge, and mean; with --model the paper's four");
  add_fitted_option(command, options.files);
  command.add_option("--baseline", options.analyse.baseline, "Method that the others are compared with");
  command.add_option("--method", options.analyse.method,
                     "Method whose answers are analysed; default: the most accurate inductive one");
}

void add_episodes(CLI::App& command, AnalysisOptions& options) {
  EpisodeShape& shape = options.analyse.episodes.shape;
  command.add_option("--n-way", shape.n_way, "Classes per episode");
  command.add_option("--k-shot", shape.k_shot, "Labelled images per class");
  command.add_option("--n-query", shape.n_query, "Queries per class");
  command.add_option("--episodes", options.analyse.episodes.count, "Episodes");
  command.add_option("--cosine-episodes", options.analyse.cosine_episodes, "Episodes of the analysis cosine");
}

/// Adds the options for series of accuracies.
void add_series(CLI::App& command, AnalysisOptions& options) {
  add_list_option(command, "--shots", options.analyse.shots, "Shots of the ablation's tasks");
  command
      .add_option("--max-shots", options.analyse.max_shots,
                  "Largest number of shots; before it 1, 2, 3, 5, 10, 20 and further doubles, and 0 for methods that "
                  "need no labelled image")
      ->check(at_least(1));
  add_list_option(command, "--gamma", options.analyse.noise.gammas, "Noise levels");
  command.add_option("--draws", options.analyse.noise.draws, "Draws of the noise at each level");
  add_list_option(command, "--ways", options.analyse.ways, "Numbers of classes; default: from 5 to all");
  add_list_option(command, "--queries", options.analyse.queries,
                  "Numbers of queries per class; 0: a single query in all");
  add_list_option(command, "--alpha", options.analyse.alphas,
                  "Parameters of the Dirichlet distribution of the class proportions; smaller is less balanced");
  add_list_option(command, "--base-classes", options.analyse.base_classes,
                  "Numbers of base classes; default: from 8 to all");
  add_list_option(command, "--unlabelled", options.analyse.unlabelled, "Numbers of unlabelled images per class");
}

void add_image_analyses(CLI::App& command, AnalysisOptions& options) {
  DistributionOptions& maps = options.analyse.distribution;
  command.add_option("--map-classes", maps.classes, "Classes of each split on the maps");
  command.add_option("--map-images", maps.images_per_class, "Images of each class on the maps");
  command.add_option("--perplexity", maps.tsne.perplexity, "Perplexity of t-SNE");
  command.add_option("--iterations", maps.tsne.iterations, "Iterations of t-SNE");
  command.add_option("--window", options.analyse.window, "Ranks in the moving average");
  add_list_option(command, "--classes", options.analyse.classes,
                  "Classes whose nearest images are shown; default: random ones");
  command.add_option("--random-classes", options.analyse.shown_classes, "Random classes to show");
  command
      .add_option("--neighbours", options.analyse.neighbours, "How many nearest and farthest images to show, up to 5")
      ->check(CLI::Range(1, 5));
}

void add_answer_analyses(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--bins", options.analyse.bins, "Bins of the reliability curve");
  command.add_option("--mistakes", options.analyse.mistakes, "Mistakes to show");
  add_list_option(command, "--few-shots", options.analyse.few_shots,
                  "Numbers of labelled images per class; 0 for methods that need none");
  command.add_option("--others", options.analyse.others, "Classes without labelled images that have queries");
  command.add_option("--base-shots", options.analyse.base_shots, "Labelled images of a base class");
}

void add_analysis_options(CLI::App& command, AnalysisOptions& options) {
  add_list_option(command, "--only", options.only,
                  "Analyses to make, by their names below; default: all that are possible")
      ->check(CLI::IsMember(section_names()));
  add_inputs(command, options);
  add_methods(command, options);
  add_episodes(command, options);
  add_series(command, options);
  add_image_analyses(command, options);
  add_answer_analyses(command, options);
  add_output_option(command, "--out", options.out, "Folder to write JSON and SVG to")->required();
  command.add_flag("--png", options.png, "Write every figure as PNG too");
}

void print_section(const Section& section) {
  fmt::print("\n{}\n{}\n", section.title, section.finding);
  for (const ReportTable& table : section.tables) {
    if (&table != &section.tables.front()) fmt::print("\n{}\n", table.caption);
    std::vector<std::vector<std::string>> rows = {table.columns};
    rows.insert(rows.end(), table.rows.begin(), table.rows.end());
    print_table(rows);
  }
}

/// Writes the JSON and every figure of an analysis into a folder, and prints its tables.
class AnalysisWriter {
 public:
  /// Makes the folder. Throws Error if nothing can be written there.
  AnalysisWriter(const CLI::App& command, const AnalysisOptions& options, Provenance provenance)
      : folder_(options.out), png_(options.png), command_(command_line(command)) {
    std::filesystem::create_directories(folder_);
    check_writable(folder_ / "analysis.json");
    header_ = make_header("analysis", 1, std::move(provenance)).to_json();
  }

  void write(const AnalysisOutcome& outcome) const {
    const Section& section = outcome.section;
    write_file(folder_ / (section.name + ".json"),
               json_text(analysis_json({section, command_, outcome.episodes_hash, header_}, outcome.data), 1));
    for (const Figure& figure : section.figures) {
      const Svg svg = draw(figure);
      write_file(folder_ / (id_of(figure) + ".svg"), svg.file());
      if (png_) write_file(folder_ / (id_of(figure) + ".png"), svg.png());
    }
    print_section(section);
  }

 private:
  std::filesystem::path folder_;
  bool png_;
  nlohmann::json header_;
  std::string command_;
};

constexpr int64_t kThumbnailSide = 96;
constexpr int kQuality = 82;

/// Returns a small square JPEG of an image in base64; "" if the id is unknown or the image cannot be read.
std::string thumbnail(const ImageFinder& images, const std::string& image_id) {
  const auto image = images.find(image_id, kThumbnailSide);
  return image ? base64(encode_jpeg(*image, kQuality)) : "";
}

AnalysisWriter writer_of(const CLI::App& command, const AnalysisOptions& options) {
  Provenance provenance = provenance_of(command, options.analyse.episodes.seed);
  options.files.add_to(provenance);
  for (const auto& path : options.results) add_input(provenance, std::filesystem::path(path).filename().string(), path);
  return AnalysisWriter(command, options, std::move(provenance));
}

AnalysisOutcome compare_results(const AnalysisOptions& options) {
  std::vector<Evaluation> evaluations;
  for (const std::string& path : options.results) evaluations.push_back(read_evaluation(path));
  const Section section = tables_section(evaluations);
  return {section, section.tables.front()};
}

constexpr const char* kTables = "tables";

/// Returns the analyses of features to make: the ones requested, or all except tables 1 and 2, which are made from
/// results.
std::vector<std::string> names_of_features(const AnalysisOptions& options) {
  std::vector<std::string> names = options.only.empty() ? section_names() : options.only;
  names.erase(std::remove(names.begin(), names.end(), kTables), names.end());
  return names;
}

bool makes_tables(const AnalysisOptions& options) {
  const bool named = std::find(options.only.begin(), options.only.end(), kTables) != options.only.end();
  if (named && options.results.empty()) fail_usage("'{}' needs results of evaluate --json: give --results", kTables);
  return named || (options.only.empty() && !options.results.empty());
}

/// Makes the analyses. One that was named must be possible; without names, impossible ones are skipped.
void analyse_features(const CLI::App& command, AnalysisOptions& options, const AnalysisWriter& writer,
                      const std::vector<std::string>& names) {
  const EvaluationData data = read_files(options.files, Split::kNovel);
  take_fewer_ways(command, data.features, options.analyse.episodes.split, options.analyse.episodes.shape);
  const ImageFinder images(options.images);
  const auto picture = [&](const std::string& id) { return thumbnail(images, id); };
  Workbench workbench({data.inputs(), data.knowledge ? &*data.knowledge : nullptr, picture, data.fitted},
                      options.analyse, progress());
  for (const std::string& name : names) {
    const std::string obstacle = options.only.empty() ? workbench.obstacle(name) : "";
    if (!obstacle.empty()) {
      logger().info("skipping '{}': it {}", name, obstacle);
      continue;
    }
    const AnalysisOutcome outcome = workbench.analyse(name);
    if (options.only.empty() && !is_informative(outcome.section)) {
      logger().info("skipping '{}': there is nothing to compare", name);
    } else {
      writer.write(outcome);
    }
  }
}

void run_analyse(const CLI::App& command, AnalysisOptions& options) {
  const bool tables = makes_tables(options);
  const std::vector<std::string> names = names_of_features(options);
  if (!names.empty() && options.files.features.empty()) fail_usage("--features is required");
  const AnalysisWriter writer = writer_of(command, options);
  if (tables) writer.write(compare_results(options));
  if (!names.empty()) analyse_features(command, options, writer, names);
}

/// The names that --only accepts, in the order of a report.
constexpr const char* kNames = R"(Analyses:
  tables         Tables 1 and 2: methods by datasets and tasks
  ablation       Table 4: what each part contributes
  cosine         Table 3: how near prototypes come to the true centres
  shots          Figure 3a: accuracy by shots, and where the curves cross
  noise          Table 5: what wrong knowledge costs
  ways           Accuracy by classes to tell apart
  queries        Accuracy by queries, from which transductive methods learn
  imbalance      Accuracy by how unequally queries are spread over classes
  base-classes   Accuracy by base classes that methods are fitted on
  unlabelled     Accuracy by unlabelled images
  distribution   Figure 1: base and novel classes in feature space
  single-images  Figure 5: prototypes from single images
  nearest        Figure 4: images nearest to and farthest from their class centre
  attention      Which attributes were used, with what weight
  classes        Accuracy of each class, confusion matrix
  calibration    Reliability curves, expected calibration error
  unseen         None of these: images of unknown classes
  generalised    Novel and base classes told apart together
  episodes       The episodes that lost most from fusion
  failures       The most confident wrong answers

Tables and figures are numbered as in Zhang et al., CVPR 2021.)";

/// Refuses any word but `all`: `analyse all` is `analyse` without --only.
std::string refuse_but_all(const std::string& word) {
  return word == "all" ? "" : fmt::format("name analyses by --only: --only {}", word);
}

void add_analyse_command(CLI::App& app) {
  auto options = std::make_shared<AnalysisOptions>();
  CLI::App* command = add_command(
      app, "analyse", "The paper's tables and figures, and more, as JSON, SVG and text",
      "protocom analyse --features features.npz --knowledge knowledge.npz --model model.npz --images images --out "
      "analysis\n"
      "protocom analyse --only shots,noise --features features.npz --knowledge knowledge.npz --fitted plda.npz --out "
      "analysis\n"
      "protocom analyse --only tables --results tiny1.json,cub1.json --out analysis");
  command->footer(fmt::format("{}\n\n{}", kNames, command->get_footer()));
  command->add_option("all", "The same as without --only")->check(&refuse_but_all, "all");
  add_analysis_options(*command, *options);
  command->callback([command, options] { run_analyse(*command, *options); });
}

const Command kAnalyse{Group::kMeasuring, 30, &add_analyse_command};

}  // namespace
}  // namespace protocom::cli
