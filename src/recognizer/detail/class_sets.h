#pragma once
#include <cstdint>

#include "recognizer/detail/left_out_answers.h"

namespace protocom {

/// The probability that a class reaches to be in the set of an image, so that the right class is in the sets of new
/// images with a probability of at least `coverage`: the conformal quantile of what images left out say of their own
/// class, the k-th smallest of m values, k = floor((m + 1) (1 - coverage)) (Vovk, Gammerman, Shafer: Algorithmic
/// Learning in a Random World, 2005; with one score a class: Sadinle, Lei, Wasserman, JASA 2019). Leaving out in
/// turn stands for a second set of labelled images. Throws Error where there are too few images for the coverage,
/// UsageError for one outside (0, 1).
double least_probability_for(const LeftOutAnswers& answers, double coverage);

}  // namespace protocom
