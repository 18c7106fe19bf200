#pragma once
#include "base/progress.h"
#include "protocom/label_check.h"
#include "recognizer/class_scorer.h"
#include "store/recognizer_file.h"

namespace protocom {

/// Of rightly placed images, the share that is named as misplaced, as measured (docs/results/own-photos.md).
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

/// Images that lie in two classes: copies of one file by their hashes, and almost the same pictures (find_twins).
std::vector<SharedImage> images_in_two_classes(const RecognizerFile& file, const RecognizerSnapshot& snapshot);

/// "'crow' and 'raven' are hardly told apart: 7 of their 16 photos left out are taken for the other; ...".
std::string sentence_of(const ConfusedClasses& pair);

/// "photos/1.jpg lies in 'crow' and in 'raven'".
std::string sentence_of(const SharedImage& image);

/// "more photos would help most: 'crow' (3 of 8 right when left out), ...", of the classes that are told worst, at most
/// three; empty where all are told well or nothing was asked.
std::string sentence_of_weakest(const LabelCheck& check);

}  // namespace protocom
