#pragma once
#include <filesystem>
#include <vector>

#include "base/matrix.h"
#include "base/progress.h"
#include "protocom/suggestion.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// An image chosen to be labelled.
struct ChosenRow {
  int64_t row = 0;
  double doubt = 0;  ///< 1 - (highest - second highest probability)
  double share = 0;  ///< share of the doubt of all images that it covers beyond those chosen before it
};

/// Chooses `count` of n images to label: greedily maximises sum_j doubt_j max_i similarity_ij over the chosen images i,
/// so that each next image covers most of the remaining doubt. similarity_ij = max(0, cosine of the features of i and
/// j, minus the mean of all). On four sets it was better than the least certain images and than random ones
/// (docs/results/own-photos.md). For more than 5,000 images only the most doubtful are candidates, and 2,000, sampled
/// evenly, represent all. `probabilities` [n, c], `features` [n, d].
std::vector<ChosenRow> choose_to_label(const DoubleMatrix& probabilities, const FloatMatrix& features, int64_t count);

/// Chooses among image files, ignoring those whose content is enrolled. Throws UsageError unless `count` is positive;
/// Error if there is no class, none of the images can be read, or all are enrolled.
Suggestions suggest(Recognizer& recognizer, const std::vector<std::filesystem::path>& images, int64_t count,
                    Progress& progress = Progress::none());

/// Chooses among images known by their features; `sources` [n] are their names.
Suggestions suggest_rows(Recognizer& recognizer, const NewExamples& images, int64_t count);

}  // namespace protocom
