#include <algorithm>
#include <optional>

#include "cli.h"
#include "image_finder.h"
#include "protocom/eval/alignment.h"
#include "protocom/report/analysis_sections.h"

namespace protocom::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string features, knowledge, model, images, class_split, out;
  std::string split = "novel";
  std::string method = "gauss-fusion";
  std::vector<std::string> results, classes;
  bool png = false;
  AnalysisEpisodes episodes;
  int64_t cosine_episodes = 1000;
  std::vector<int64_t> shots = {1, 5};
  int64_t max_shots = 10;
  std::vector<int64_t> ways;
  std::vector<int64_t> unlabelled = {0, 1, 2, 5, 10, 20, 30, 50};
  NoiseOptions noise;
  DistributionOptions distribution;
  int64_t shown_classes = 5;
  int64_t neighbours = 5;
  int64_t window = 50;
  int64_t bins = 15;
  int64_t mistakes = 8;
};

nlohmann::json read_json(const std::string& path) {
  nlohmann::json parsed = nlohmann::json::parse(read_file(path), nullptr, false);
  if (parsed.is_discarded()) fail("{} is not valid JSON: give what `protocom evaluate --json` wrote", path);
  return parsed;
}

/// An analysis' numbers and how they are shown.
struct Outcome {
  Section section;
  nlohmann::json data;
  std::string episodes_hash = {};  ///< of its lists of episodes
};

/// Everything the analyses read, and what several of them share.
class Workbench {
 public:
  explicit Workbench(const Options& options)
      : options_(options),
        features_(read_features(options.features, file_options(options))),
        knowledge_(read_knowledge(options.knowledge)),
        model_(read_completion_model(options.model)),
        classes_(align_knowledge(knowledge_, features_.class_names, model_.attributes)),
        images_(options.images),
        episodes_(options.episodes) {
    episodes_.split = parse_split(options.split);
    if (model_.network.options().feature_dim != features_.dim())
      fail("the model completes features of {} dimensions, these have {}", model_.network.options().feature_dim,
           features_.dim());
  }

  Outcome run(const std::string& name) {
    static const std::map<std::string, Outcome (Workbench::*)()> kAnalyses = {
        {"ablation", &Workbench::ablation},
        {"cosine", &Workbench::cosine},
        {"shots", &Workbench::shots},
        {"noise", &Workbench::noise},
        {"ways", &Workbench::ways},
        {"unlabelled", &Workbench::unlabelled},
        {"distribution", &Workbench::distribution},
        {"single-images", &Workbench::single_images},
        {"nearest", &Workbench::nearest},
        {"attention", &Workbench::attention},
        {"classes", &Workbench::classes},
        {"calibration", &Workbench::calibration},
        {"episodes", &Workbench::episodes},
        {"failures", &Workbench::failures}};
    return (this->*kAnalyses.at(name))();
  }

 private:
  static FeatureFileOptions file_options(const Options& options) {
    FeatureFileOptions result;
    if (!options.class_split.empty()) result.split = options.class_split;
    return result;
  }

  [[nodiscard]] AnalysisInputs inputs() const { return {features_, model_, classes_}; }
  [[nodiscard]] TitleSource titles() const {
    return [this](const std::string& name) { return title_in(knowledge_, name); };
  }
  [[nodiscard]] PictureSource pictures() const {
    return [this](const std::string& id) { return images_.thumbnail(id); };
  }

  TaskScores task(EpisodeShape shape, int64_t count, KeepPredictions predictions) {
    list_ = sample_episodes(features_, episodes_.split, shape, count, episodes_.seed);
    EvaluateOptions evaluation;
    evaluation.predictions = predictions;
    return {shape, evaluate(features_, list_, &model_, &classes_, evaluation, progress())};
  }

  /// The hash of the episodes of each value of a series.
  [[nodiscard]] std::string hashes_of(const std::vector<int64_t>& values, int64_t EpisodeShape::*size) const {
    std::vector<std::string> hashes;
    for (const int64_t value : values) {
      EpisodeShape shape = episodes_.shape;
      shape.*size = value;
      hashes.push_back(
          sample_episodes(features_, episodes_.split, shape, episodes_.count, episodes_.seed).hash(features_));
    }
    return fmt::format("{}", fmt::join(hashes, " "));
  }

  /// The scores of every query, which four analyses need.
  const TaskScores& judged() {
    if (!judged_) {
      judged_ = task(episodes_.shape, episodes_.count, KeepPredictions::kYes);
      judged_list_ = list_;
    }
    return *judged_;
  }

  const MethodScores& judged_by(const std::string& method) {
    const Method wanted = parse_method(method);
    const auto& all = judged().methods;
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.method == wanted; });
  }

  /// What the smallest class of the split leaves for more than the queries.
  [[nodiscard]] int64_t spare_images() const {
    const auto rows = features_.rows_by_class();
    int64_t fewest = features_.size();
    for (const int64_t k : features_.classes_of(episodes_.split))
      fewest = std::min(fewest, static_cast<int64_t>(rows[static_cast<size_t>(k)].size()));
    return fewest - episodes_.shape.n_query;
  }

  /// The numbers that the smallest class allows; says so when it does not allow all.
  [[nodiscard]] std::vector<int64_t> that_fit(std::vector<int64_t> counts, int64_t room, const char* what) const {
    const size_t asked = counts.size();
    counts.erase(std::remove_if(counts.begin(), counts.end(), [room](int64_t count) { return count > room; }),
                 counts.end());
    if (counts.empty()) fail("the smallest class has too few images for any number of {}", what);
    if (counts.size() < asked)
      logger().warn("the smallest class has room for {} {} besides {} queries: larger numbers are left out", room, what,
                    episodes_.shape.n_query);
    return counts;
  }

  Outcome ablation() {
    std::vector<TaskScores> tasks;
    nlohmann::json data = nlohmann::json::array();
    for (const int64_t k : options_.shots) {
      EpisodeShape shape = episodes_.shape;
      shape.k_shot = k;
      tasks.push_back(task(shape, episodes_.count, KeepPredictions::kNo));
      for (auto& row : results_json(shape, tasks.back().methods)) data.push_back(std::move(row));
    }
    return {ablation_section(tasks, episodes_), data, hashes_of(options_.shots, &EpisodeShape::k_shot)};
  }

  Outcome cosine() {
    AnalysisEpisodes many = episodes_;
    many.count = options_.cosine_episodes;
    const TaskScores scores = task(many.shape, many.count, KeepPredictions::kNo);
    return {cosine_section(scores, many), results_json(many.shape, scores.methods), list_.hash(features_)};
  }

  Outcome shots() {
    std::vector<int64_t> counts;
    for (int64_t k = 1; k <= options_.max_shots; ++k) counts.push_back(k);
    counts = that_fit(counts, spare_images(), "shots");
    const auto points = accuracy_by_shots(inputs(), episodes_, counts, progress());
    return {shots_section(points, episodes_), points, hashes_of(counts, &EpisodeShape::k_shot)};
  }

  Outcome noise() {
    const auto points = accuracy_by_noise(inputs(), episodes_, options_.noise, progress());
    return {noise_section(points, options_.noise, episodes_), points,
            hashes_of({episodes_.shape.k_shot}, &EpisodeShape::k_shot)};
  }

  Outcome ways() {
    const auto available = static_cast<int64_t>(features_.classes_of(episodes_.split).size());
    const auto counts = options_.ways.empty() ? ways_up_to(available) : options_.ways;
    const auto points = accuracy_by_ways(inputs(), episodes_, counts, progress());
    return {ways_section(points, episodes_), points, hashes_of(counts, &EpisodeShape::n_way)};
  }

  Outcome unlabelled() {
    const auto counts = that_fit(options_.unlabelled, spare_images() - episodes_.shape.k_shot, "unlabelled images");
    const auto points = accuracy_by_unlabelled(inputs(), episodes_, counts, progress());
    return {unlabelled_section(points, episodes_), points,
            hashes_of({*std::max_element(counts.begin(), counts.end())}, &EpisodeShape::unlabelled)};
  }

  Outcome distribution() {
    const auto analysis = analyse_distribution(features_, options_.distribution);
    return {distribution_section(analysis, titles()), analysis};
  }

  Outcome single_images() {
    const auto analysis = analyse_single_images(inputs(), episodes_.split, options_.window);
    return {single_images_section(analysis, episodes_.split), analysis};
  }

  Outcome nearest() {
    const auto names = options_.classes.empty()
                           ? random_classes(features_, episodes_.split, options_.shown_classes, episodes_.seed)
                           : options_.classes;
    const auto classes = extreme_images(features_, names, options_.neighbours);
    return {nearest_section(classes, titles(), pictures()), classes};
  }

  Outcome attention() {
    const auto classes = analyse_attention(inputs(), episodes_.split, knowledge_);
    return {attention_section(classes), classes};
  }

  Outcome classes() {
    const auto& predictions = judged_by(options_.method).predictions;
    std::vector<std::string> words;
    for (const std::string& name : features_.class_names) words.push_back(title_in(knowledge_, name));
    auto analysis = analyse_classes(features_, judged_list_, predictions, words);
    analysis.method = options_.method;
    return {classes_section(analysis, episodes_), analysis, judged_list().hash(features_)};
  }

  Outcome calibration() {
    std::vector<Calibration> methods;
    for (const MethodScores& scores : judged().methods) {
      methods.push_back(calibrate(scores.predictions, options_.bins));
      methods.back().method = to_string(scores.method);
      methods.back().mode = mode_of(scores.method);
    }
    return {calibration_section(methods, GaussFusionOptions{}.scale, episodes_), methods,
            judged_list().hash(features_)};
  }

  Outcome episodes() {
    const auto analysis = analyse_episodes(features_, judged_list(), judged().methods);
    return {episodes_section(analysis, titles(), episodes_), analysis, judged_list().hash(features_)};
  }

  const EpisodeList& judged_list() {
    judged();
    return judged_list_;
  }

  Mistake show(const Prediction& wrong) {
    const Episode& episode = judged_list().episodes[static_cast<size_t>(wrong.episode)];
    const auto support_of = [&](int64_t k) {
      const auto place = std::find(episode.classes.begin(), episode.classes.end(), k) - episode.classes.begin();
      return features_.image_ids[static_cast<size_t>(episode.support[static_cast<size_t>(place)].front())];
    };
    const auto title = [&](int64_t k) { return title_in(knowledge_, features_.class_names[static_cast<size_t>(k)]); };
    return {features_.image_ids[static_cast<size_t>(wrong.row)],
            title(wrong.true_class),
            title(wrong.predicted),
            wrong.probability,
            support_of(wrong.predicted),
            support_of(wrong.true_class)};
  }

  Outcome failures() {
    std::vector<Mistake> mistakes;
    for (const Prediction& wrong : surest_mistakes(judged_by(options_.method).predictions, options_.mistakes))
      mistakes.push_back(show(wrong));
    return {failures_section(mistakes, options_.method, episodes_, pictures()), mistakes,
            judged_list().hash(features_)};
  }

  const Options& options_;
  FeatureSet features_;
  Knowledge knowledge_;
  CompletionModel model_;
  ClassKnowledge classes_;
  ImageFinder images_;
  AnalysisEpisodes episodes_;
  EpisodeList list_;
  std::optional<TaskScores> judged_;
  EpisodeList judged_list_;
};

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
  Writer(const CLI::App& command, const Options& options) : folder_(options.out), png_(options.png) {
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

  void write(const Outcome& outcome) const {
    const Section& section = outcome.section;
    write_file(folder_ / (section.name + ".json"),
               analysis_json({section, command_, outcome.episodes_hash, header_}, outcome.data).dump(1));
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

Outcome tables(const Options& options) {
  std::vector<Evaluation> evaluations;
  for (const std::string& path : options.results) evaluations.push_back(parse_evaluation(read_json(path), path));
  const Section section = tables_section(evaluations);
  return {section, section.tables.front()};
}

void run_one(const CLI::App& command, const Options& options) {
  const Writer writer(command, options);
  writer.write(Workbench(options).run(command.get_name()));
}

void run_tables(const CLI::App& command, const Options& options) { Writer(command, options).write(tables(options)); }

void run_all(const CLI::App& command, const Options& options) {
  const Writer writer(command, options);
  Workbench workbench(options);
  for (const std::string& name : section_names()) {
    if (name != "tables") writer.write(workbench.run(name));
    if (name == "tables" && !options.results.empty()) writer.write(tables(options));
  }
}

using AddOptions = void (*)(CLI::App&, Options&);

void add_inputs(CLI::App& command, Options& options) {
  command.add_option("--features", options.features, "Features (npz)")->required();
  command.add_option("--knowledge", options.knowledge, "Knowledge file")->required();
  command.add_option("--model", options.model, "Completion model")->required();
  command.add_option("--class-split", options.class_split, "Split that replaces the features' own (CSV class,split)");
  command.add_option("--split", options.split, "Classes that are analysed: base, val or novel");
  command.add_option("--seed", options.episodes.seed, "Seed of everything that is drawn");
}

void add_output(CLI::App& command, Options& options) {
  command.add_option("--out", options.out, "Folder to write JSON and SVG to")->required();
  command.add_flag("--png", options.png, "Write every figure as PNG too");
}

void add_task(CLI::App& command, Options& options) {
  command.add_option("--n-way", options.episodes.shape.n_way, "Classes an episode");
  command.add_option("--k-shot", options.episodes.shape.k_shot, "Labelled images a class");
  command.add_option("--n-query", options.episodes.shape.n_query, "Queries a class");
}

void add_episodes(CLI::App& command, Options& options) {
  add_task(command, options);
  command.add_option("--episodes", options.episodes.count, "Episodes");
}

void add_images(CLI::App& command, Options& options) {
  command.add_option("--images", options.images, "Pack or folder of the images, for thumbnails");
}

void add_ablation(CLI::App& command, Options& options) {
  command.add_option("--shots", options.shots, "Shots a task")->delimiter(',');
}

void add_shots(CLI::App& command, Options& options) {
  command.add_option("--max-shots", options.max_shots, "Shots from 1 to this many")->check(CLI::PositiveNumber);
}

void add_noise(CLI::App& command, Options& options) {
  command.add_option("--gamma", options.noise.gammas, "Noise levels")->delimiter(',');
  command.add_option("--draws", options.noise.draws, "Draws of the noise at each level");
}

void add_ways(CLI::App& command, Options& options) {
  command.add_option("--ways", options.ways, "Numbers of classes; default: from 5 to all")->delimiter(',');
}

void add_unlabelled(CLI::App& command, Options& options) {
  command.add_option("--unlabelled", options.unlabelled, "Numbers of unlabelled images a class")->delimiter(',');
}

void add_distribution(CLI::App& command, Options& options) {
  command.add_option("--map-classes", options.distribution.classes, "Classes of each split on the maps");
  command.add_option("--map-images", options.distribution.images_per_class, "Images of each of them");
  command.add_option("--perplexity", options.distribution.tsne.perplexity, "Of t-SNE");
  command.add_option("--iterations", options.distribution.tsne.iterations, "Of t-SNE");
}

void add_single_images(CLI::App& command, Options& options) {
  command.add_option("--window", options.window, "Ranks in the moving average");
}

void add_nearest(CLI::App& command, Options& options) {
  command.add_option("--classes", options.classes, "Class names; default: random ones")->delimiter(',');
  command.add_option("--random-classes", options.shown_classes, "How many random ones");
  command.add_option("--neighbours", options.neighbours, "Images nearest and farthest, up to 5")
      ->check(CLI::Range(1, 5));
}

void add_method(CLI::App& command, Options& options) {
  command.add_option("--method", options.method, "Whose predictions: mean, completed, mean-fusion, gauss-fusion");
}

void add_bins(CLI::App& command, Options& options) {
  command.add_option("--bins", options.bins, "Bins of the reliability curve");
}

void add_mistakes(CLI::App& command, Options& options) {
  command.add_option("--mistakes", options.mistakes, "How many");
}

/// `protocom analyse NAME` with its groups of options.
CLI::App* add_analysis(CLI::App& parent, const std::string& name, const std::string& description,
                       const std::vector<AddOptions>& groups) {
  auto options = std::make_shared<Options>();
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

void add_cosine(CLI::App& command, Options& options) {
  add_task(command, options);
  command.add_option("--episodes", options.cosine_episodes, "Episodes");
}

void add_tables_command(CLI::App& parent) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(parent, "tables", "Tables 1 and 2: methods by datasets and tasks",
                                  "protocom analyse tables tiny1.json tiny5.json cub1.json --out analysis");
  command->add_option("results", options->results, "What evaluate --json wrote")->required();
  add_output(*command, *options);
  command->callback([command, options] { run_tables(*command, *options); });
}

void add_all_command(CLI::App& parent) {
  auto options = std::make_shared<Options>();
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
