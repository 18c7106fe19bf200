#include "report/detail/analyses.h"

namespace protocom {
namespace {

/// Figure 1.
AnalysisOutcome distribution(Workbench& bench) {
  const auto analysis = analyse_distribution(bench.features(), bench.options().distribution);
  return {distribution_section(analysis, bench.titles(), bench.pictures()), analysis};
}

/// Figure 5.
AnalysisOutcome single_images(Workbench& bench) {
  const Split split = bench.episodes().split;
  const auto analysis = analyse_single_images(bench.inputs(), split, bench.options().window);
  return {single_images_section(analysis, split), analysis};
}

/// Figure 4.
AnalysisOutcome nearest(Workbench& bench) {
  const AnalyseOptions& options = bench.options();
  const auto names = options.classes.empty() ? random_classes(bench.features(), bench.episodes().split,
                                                              options.shown_classes, bench.episodes().seed)
                                             : options.classes;
  const auto classes = extreme_images(bench.features(), names, options.neighbours);
  return {nearest_section(classes, bench.titles(), bench.pictures()), classes};
}

}  // namespace

std::vector<Analysis> image_analyses() {
  return {{"distribution", &distribution}, {"single-images", &single_images}, {"nearest", &nearest}};
}

}  // namespace protocom
