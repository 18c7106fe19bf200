#pragma once
#include <vector>

namespace protocom {

/// The least probability of a class in the set of an image, such that the right class is in the sets of new images with
/// a probability of at least `coverage`: the conformal quantile of the leave-one-out probabilities of the right class,
/// the k-th smallest of m values, k = floor((m + 1) (1 - coverage)) (Vovk, Gammerman, Shafer: Algorithmic Learning in a
/// Random World, 2005; with one score a class: Sadinle, Lei, Wasserman, JASA 2019). Leave-one-out
/// (Recognizer::left_out_probabilities) takes the place of a second set of labelled images. Throws Error if there are
/// too few images for the coverage, UsageError for one outside (0, 1).
double least_probability_for(std::vector<double> left_out, double coverage);

}  // namespace protocom
