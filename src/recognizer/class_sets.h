#pragma once
#include <vector>

namespace protocom {

/// Returns the least probability of a class in an image's prediction set, such that the sets of new images contain the
/// right class with a probability of at least `coverage`: the conformal quantile of the leave-one-out probabilities of
/// the right class, the k-th smallest of m values, k = floor((m + 1) (1 - coverage)) (Vovk, Gammerman, Shafer:
/// Algorithmic Learning in a Random World, 2005; with one score per class: Sadinle, Lei, Wasserman, JASA 2019).
/// Leave-one-out (Recognizer::left_out_probabilities) replaces a second set of labelled images. Throws Error if there
/// are too few images for the coverage, UsageError for a coverage outside (0, 1).
double least_probability_for(std::vector<double> left_out, double coverage);

}  // namespace protocom
