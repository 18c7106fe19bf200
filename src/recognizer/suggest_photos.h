#pragma once
#include <filesystem>
#include <vector>

#include "base/matrix.h"
#include "base/progress.h"
#include "protocom/suggestion.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// An image that was chosen to be labelled.
struct ChosenRow {
  int64_t row = 0;
  double doubt = 0;  ///< 1 - (highest - second highest probability)
  double share = 0;  ///< of the doubt of all images, what it takes beyond those chosen before it
};

/// Chooses `count` of n images to label, one after the other: each takes the most of the doubt that is left. An image
/// takes of another one's doubt what the two are alike, max(0, cosine of their features less the mean of all), as far
/// as no other chosen image does: the greedy maximum of sum_j doubt_j max_i likeness_ij over chosen i. On four sets it
/// was ahead of the least certain ones and of chance (docs/results/own-photos.md). Of more than 5,000 images the most
/// doubtful are chosen from, and 2,000, evenly, stand for all. `probabilities` [n, c], `features` [n, d].
std::vector<ChosenRow> choose_to_label(const DoubleMatrix& probabilities, const FloatMatrix& features, int64_t count);

/// Images of files, of which those whose content is enrolled are left out. Throws UsageError unless `count` is
/// positive; Error where there is no class, none of the images can be read, or all are enrolled.
Suggestions suggest(Recognizer& recognizer, const std::vector<std::filesystem::path>& images, int64_t count,
                    Progress& progress = Progress::none());

/// The same of images that are known by features float32 [n, d]; `images` [n] are what they are called, `hashes` [n]
/// what they hold.
Suggestions suggest_rows(Recognizer& recognizer, const Array& features, const std::vector<std::string>& images,
                         const std::vector<std::string>& hashes, int64_t count);

}  // namespace protocom
