#include "analysis_options.h"

#include "file_options.h"
#include "protocom/report/analysis_sections.h"

namespace protocom::cli {
namespace {

void add_inputs(CLI::App& command, AnalysisOptions& options) {
  add_data_options(command, options.files);
  command.get_option("--features")->required(false);  // `--only tables` reads results alone
  add_model_option(command, options.files);
  command.add_option("--split", options.split, "Classes that are analysed: base, val or novel");
  command.add_option("--seed", options.analyse.episodes.seed, "Seed of everything that is drawn");
  command.add_option("--images", options.images, "Pack or folder of the images, for thumbnails")->type_name(kInput);
  command.add_option("--results", options.results, "What evaluate --json wrote, for tables 1 and 2")
      ->type_name(kInput)
      ->delimiter(',');
}

void add_methods(CLI::App& command, AnalysisOptions& options) {
  command
      .add_option("--methods", options.analyse.methods,
                  "Methods with their parameters, see protocom methods; otherwise what --fitted has, with and without "
                  "its knowledge, and mean, with --model the paper's four")
      ->delimiter(',');
  add_fitted_option(command, options.files);
  command.add_option("--baseline", options.analyse.baseline, "Method that gains are measured against");
  command.add_option(
      "--method", options.analyse.method,
      "Method whose answers are analysed; otherwise the most accurate of those that see each query alone");
}

void add_episodes(CLI::App& command, AnalysisOptions& options) {
  EpisodeShape& shape = options.analyse.episodes.shape;
  command.add_option("--n-way", shape.n_way, "Classes per episode");
  command.add_option("--k-shot", shape.k_shot, "Labelled images per class");
  command.add_option("--n-query", shape.n_query, "Queries per class");
  command.add_option("--episodes", options.analyse.episodes.count, "Episodes");
  command.add_option("--cosine-episodes", options.analyse.cosine_episodes, "Episodes of the analysis cosine");
}

/// What accuracy is shown by.
void add_series(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--shots", options.analyse.shots, "Shots of the ablation's tasks")->delimiter(',');
  command
      .add_option(
          "--max-shots", options.analyse.max_shots,
          "0, 1, 2, 3, 5, 10, 20 shots and further doubles up to this many, which is the last; 0 where a method "
          "needs no labelled image")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  command.add_option("--gamma", options.analyse.noise.gammas, "Noise levels")->delimiter(',');
  command.add_option("--draws", options.analyse.noise.draws, "Draws of the noise at each level");
  command.add_option("--ways", options.analyse.ways, "Numbers of classes; default: from 5 to all")->delimiter(',');
  command
      .add_option("--queries", options.analyse.queries,
                  "Numbers of queries per class; 0: a single query, of one of the classes")
      ->delimiter(',');
  command
      .add_option("--alpha", options.analyse.alphas,
                  "Dirichlet distributions that the classes' shares are drawn from; smaller, less balanced")
      ->delimiter(',');
  command.add_option("--base-classes", options.analyse.base_classes, "Numbers of base classes; default: from 8 to all")
      ->delimiter(',');
  command.add_option("--unlabelled", options.analyse.unlabelled, "Numbers of unlabelled images per class")
      ->delimiter(',');
}

void add_image_analyses(CLI::App& command, AnalysisOptions& options) {
  DistributionOptions& maps = options.analyse.distribution;
  command.add_option("--map-classes", maps.classes, "Classes of each split on the maps");
  command.add_option("--map-images", maps.images_per_class, "Images of each class on the maps");
  command.add_option("--perplexity", maps.tsne.perplexity, "Perplexity of t-SNE");
  command.add_option("--iterations", maps.tsne.iterations, "Iterations of t-SNE");
  command.add_option("--window", options.analyse.window, "Ranks in the moving average");
  command
      .add_option("--classes", options.analyse.classes, "Classes whose nearest images are shown; default: random ones")
      ->delimiter(',');
  command.add_option("--random-classes", options.analyse.shown_classes, "Random classes to show");
  command
      .add_option("--neighbours", options.analyse.neighbours, "How many nearest and farthest images to show, up to 5")
      ->check(CLI::Range(1, 5));
}

void add_answer_analyses(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--bins", options.analyse.bins, "Bins of the reliability curve");
  command.add_option("--mistakes", options.analyse.mistakes, "Mistakes to show");
  command
      .add_option("--few-shots", options.analyse.few_shots,
                  "Numbers of labelled images per class; 0 for methods that need none")
      ->delimiter(',');
  command.add_option("--others", options.analyse.others, "Classes that are not given and have queries too")
      ->type_name(kInput);
  command.add_option("--base-shots", options.analyse.base_shots, "Labelled images of a base class");
}

}  // namespace

void add_analysis_options(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--only", options.only, "Analyses to make, by their names below; otherwise all that can be")
      ->delimiter(',')
      ->check(CLI::IsMember(section_names()));
  add_inputs(command, options);
  add_methods(command, options);
  add_episodes(command, options);
  add_series(command, options);
  add_image_analyses(command, options);
  add_answer_analyses(command, options);
  command.add_option("--out", options.out, "Folder to write JSON and SVG to")->type_name(kOutput)->required();
  command.add_flag("--png", options.png, "Write every figure as PNG too");
}

}  // namespace protocom::cli
