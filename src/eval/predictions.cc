#include "eval/predictions.h"

#include <fmt/format.h>

#include <iterator>

#include "io/csv.h"

namespace protocom {

std::string predictions_csv_header() {
  return "n_way,k_shot,seed,method,episode,image,true,predicted,probability,margin\n";
}

void append_predictions_csv(const EpisodeShape& shape, const std::vector<SeedScores>& seeds, const FeatureSet& features,
                            std::string& text) {
  std::vector<std::string> class_cells;
  for (const auto& name : features.class_names) class_cells.push_back(csv_cell(name));
  const std::string shots =
      shape.ragged() ? fmt::format("{}-{}", shape.k_shot, shape.most_shots) : fmt::format("{}", shape.k_shot);
  for (const SeedScores& seed : seeds) {
    for (const MethodScores& scores : seed.methods) {
      const std::string start = fmt::format("{},{},{},{}", shape.n_way, shots, seed.seed, csv_cell(scores.method));
      for (const Prediction& prediction : scores.predictions) {
        fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{:.6f},{:.6f}\n", start, prediction.episode,
                       csv_cell(features.image_ids[static_cast<size_t>(prediction.row)]),
                       class_cells[static_cast<size_t>(prediction.true_class)],
                       class_cells[static_cast<size_t>(prediction.predicted)], prediction.probability,
                       prediction.margin);
      }
    }
  }
}

}  // namespace protocom
