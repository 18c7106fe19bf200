#include <algorithm>

#include "analysis_options.h"
#include "analysis_writer.h"
#include "protocom/data/image_finder.h"
#include "protocom/report/says_something.h"
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

constexpr const char* kTables = "tables";

/// Those to make of features: the ones asked for, or all, without tables 1 and 2, which are made of results.
std::vector<std::string> names_of_features(const AnalysisOptions& options) {
  std::vector<std::string> names = options.only.empty() ? section_names() : options.only;
  names.erase(std::remove(names.begin(), names.end(), kTables), names.end());
  return names;
}

bool asks_for_tables(const AnalysisOptions& options) {
  const bool named = std::find(options.only.begin(), options.only.end(), kTables) != options.only.end();
  if (named && options.results.empty()) fail_usage("'{}' needs what evaluate --json wrote: --results", kTables);
  return named || (options.only.empty() && !options.results.empty());
}

/// One that was asked for has to be possible; of all, those that are not are left out.
void analyse_features(const CLI::App& command, AnalysisOptions& options, const AnalysisWriter& writer,
                      const std::vector<std::string>& names) {
  options.analyse.episodes.split = parse_split(options.split);
  if (!options.analyse.methods.empty()) make_methods(options.analyse.methods);  // a wrong name is said first
  const EvaluationData data = read_files(options.files, Split::kNovel);
  take_fewer_ways(command, data.features, options.analyse.episodes.split, options.analyse.episodes.shape);
  const ImageFinder images(options.images);
  const auto picture = [&](const std::string& id) { return thumbnail(images, id); };
  Workbench workbench({data.inputs(), data.knowledge ? &*data.knowledge : nullptr, picture, data.fitted},
                      options.analyse, progress());
  for (const std::string& name : names) {
    const std::string obstacle = options.only.empty() ? workbench.obstacle(name) : "";
    if (!obstacle.empty()) {
      logger().info("'{}' is left out: it {}", name, obstacle);
      continue;
    }
    const AnalysisOutcome outcome = workbench.run(name);
    if (options.only.empty() && !says_something(outcome.section)) {
      logger().info("'{}' is left out: there is nothing to compare", name);
    } else {
      writer.write(outcome);
    }
  }
}

void run_analyse(const CLI::App& command, AnalysisOptions& options) {
  const bool tables = asks_for_tables(options);
  const std::vector<std::string> names = names_of_features(options);
  if (!names.empty() && options.files.features.empty()) fail_usage("--features is required");
  const AnalysisWriter writer = writer_of(command, options);
  if (tables) writer.write(compare_results(options));
  if (!names.empty()) analyse_features(command, options, writer, names);
}

/// The names that --only takes, in the order of a report.
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
  unseen         None of these: images of classes that were not given
  generalised    Novel and base classes told apart together
  episodes       The episodes that lost most from fusion
  failures       The surest mistakes

Tables and figures are numbered as in Zhang et al., CVPR 2021.)";

/// `analyse all` is what `analyse` without --only is.
std::string refuse_but_all(const std::string& word) {
  return word == "all" ? "" : fmt::format("analyses are named by an option: --only {}", word);
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

const Command kAnalyse{Order::kAnalyse, &add_analyse_command};

}  // namespace
}  // namespace protocom::cli
