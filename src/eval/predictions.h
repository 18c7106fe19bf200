#pragma once
#include <string>
#include <vector>

#include "eval/results_json.h"

namespace protocom {

/// Returns the first line of a file of predictions:
/// n_way,k_shot,seed,method,episode,image,true,predicted,probability,margin
std::string predictions_csv_header();

/// Appends one line for every query and method of every list of one shape. `episode` counts from 0 within a list,
/// `image` is the image's id, `true` and `predicted` are class names, `probability` is that of the predicted class and
/// `margin` is that minus the second best. k_shot is "1-5" for ragged tasks. Requires scores with predictions.
void append_predictions_csv(const EpisodeShape& shape, const std::vector<SeedScores>& seeds, const FeatureSet& features,
                            std::string& text);

}  // namespace protocom
