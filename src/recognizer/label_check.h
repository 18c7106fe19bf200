#pragma once
#include "base/progress.h"
#include "protocom/label_check.h"
#include "recognizer/class_scorer.h"
#include "store/recognizer_file.h"

namespace protocom {

/// The share of correctly placed images that is listed as misplaced, as measured (docs/results/own-photos.md).
inline constexpr double kFalselyMisplaced = 0.03;

/// Checks the labels of the enrolled images, by leaving each moment out (leave_moments_out). `factor`: of the logits,
/// before the softmax.
///
/// An image is misplaced where another class is the most probable one and the probability p of its own lies below t. By
/// the probabilities themselves the class of an image is one of a probability below t in sum_k p_k [p_k < t] of all
/// cases; t is the largest value for which the mean of that is .02, which is .03 as measured. Labels do not count
/// in it, and the power by which the probabilities are made right allows for 5 % of them to be wrong, so that misplaced
/// images hardly move it.
LabelCheck check_labels(const ClassScorer& scorer, const RecognizerSnapshot& snapshot, double factor,
                        Progress& progress);

/// Images that are in two classes: copies of one file by their hashes, and nearly equal images (find_twins).
std::vector<SharedImage> images_in_two_classes(const RecognizerFile& file, const RecognizerSnapshot& snapshot);

/// "'crow' and 'raven' are confused: 7 of 16 photos left out are classified as the other one".
std::string sentence_of(const ConfusedClasses& pair);

/// "the same photo is in 'crow' (photos/1.jpg) and in 'raven' (photos/9.jpg)".
std::string sentence_of(const SharedImage& image);

/// "more photos would help most: 'crow' (3 of 8 right by leave-one-out), ...", of the least accurate classes, at most
/// three; empty if all are accurate or nothing could be left out.
std::string sentence_of_weakest(const LabelCheck& check);

}  // namespace protocom
