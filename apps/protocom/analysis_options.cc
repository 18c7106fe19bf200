#include "analysis_options.h"

namespace protocom::cli {

void add_inputs(CLI::App& command, AnalysisOptions& options) {
  add_data_options(command, options.files);
  add_model_option(command, options.files);
  command.add_option("--split", options.split, "Classes that are analysed: base, val or novel");
  command.add_option("--seed", options.analyse.episodes.seed, "Seed of everything that is drawn");
}

void add_output(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--out", options.out, "Folder to write JSON and SVG to")->required();
  command.add_flag("--png", options.png, "Write every figure as PNG too");
}

void add_task(CLI::App& command, AnalysisOptions& options) {
  EpisodeShape& shape = options.analyse.episodes.shape;
  command.add_option("--n-way", shape.n_way, "Classes an episode");
  command.add_option("--k-shot", shape.k_shot, "Labelled images a class");
  command.add_option("--n-query", shape.n_query, "Queries a class");
}

void add_methods(CLI::App& command, AnalysisOptions& options) {
  command
      .add_option("--methods", options.analyse.methods,
                  "Methods with their parameters, see protocom methods; otherwise what --fitted has, with and without "
                  "its knowledge, and mean, with --model the paper's four")
      ->delimiter(',');
  add_fitted_option(command, options.files);
  command.add_option("--baseline", options.analyse.baseline, "The method that gains are over");
}

void add_episodes(CLI::App& command, AnalysisOptions& options) {
  add_task(command, options);
  command.add_option("--episodes", options.analyse.episodes.count, "Episodes");
}

void add_cosine(CLI::App& command, AnalysisOptions& options) {
  add_task(command, options);
  command.add_option("--episodes", options.analyse.cosine_episodes, "Episodes");
}

void add_images(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--images", options.images, "Pack or folder of the images, for thumbnails");
}

void add_ablation(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--shots", options.analyse.shots, "Shots a task")->delimiter(',');
}

void add_shots(CLI::App& command, AnalysisOptions& options) {
  command
      .add_option(
          "--max-shots", options.analyse.max_shots,
          "0, 1, 2, 3, 5, 10, 20 shots and further doubles up to this many, which is the last; 0 where a method "
          "needs no labelled image")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
}

void add_noise(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--gamma", options.analyse.noise.gammas, "Noise levels")->delimiter(',');
  command.add_option("--draws", options.analyse.noise.draws, "Draws of the noise at each level");
}

void add_ways(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--ways", options.analyse.ways, "Numbers of classes; default: from 5 to all")->delimiter(',');
}

void add_queries(CLI::App& command, AnalysisOptions& options) {
  command
      .add_option("--queries", options.analyse.queries,
                  "Numbers of queries a class; 0: a single query, of one of the classes")
      ->delimiter(',');
}

void add_imbalance(CLI::App& command, AnalysisOptions& options) {
  command
      .add_option("--alpha", options.analyse.alphas,
                  "Dirichlet distributions that the classes' shares are drawn from; smaller, less balanced")
      ->delimiter(',');
}

void add_base_classes(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--base-classes", options.analyse.base_classes, "Numbers of base classes; default: from 8 to all")
      ->delimiter(',');
}

void add_unlabelled(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--unlabelled", options.analyse.unlabelled, "Numbers of unlabelled images a class")
      ->delimiter(',');
}

void add_distribution(CLI::App& command, AnalysisOptions& options) {
  DistributionOptions& maps = options.analyse.distribution;
  command.add_option("--map-classes", maps.classes, "Classes of each split on the maps");
  command.add_option("--map-images", maps.images_per_class, "Images of each of them");
  command.add_option("--perplexity", maps.tsne.perplexity, "Of t-SNE");
  command.add_option("--iterations", maps.tsne.iterations, "Of t-SNE");
}

void add_single_images(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--window", options.analyse.window, "Ranks in the moving average");
}

void add_nearest(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--classes", options.analyse.classes, "Class names; default: random ones")->delimiter(',');
  command.add_option("--random-classes", options.analyse.shown_classes, "How many random ones");
  command.add_option("--neighbours", options.analyse.neighbours, "Images nearest and farthest, up to 5")
      ->check(CLI::Range(1, 5));
}

void add_method(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--method", options.analyse.method,
                     "Method whose answers are analysed; otherwise the first that was fitted, or else the last one");
}

void add_bins(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--bins", options.analyse.bins, "Bins of the reliability curve");
}

void add_few_shots(CLI::App& command, AnalysisOptions& options) {
  command
      .add_option("--few-shots", options.analyse.few_shots,
                  "Numbers of labelled images a class; 0 for methods that can")
      ->delimiter(',');
}

void add_others(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--others", options.analyse.others, "Classes that are not given and have queries too");
}

void add_base_shots(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--base-shots", options.analyse.base_shots, "Labelled images of a base class");
}

void add_mistakes(CLI::App& command, AnalysisOptions& options) {
  command.add_option("--mistakes", options.analyse.mistakes, "How many");
}

}  // namespace protocom::cli
