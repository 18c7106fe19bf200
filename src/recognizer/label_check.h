#pragma once
#include "base/progress.h"
#include "protocom/label_check.h"
#include "recognizer/class_scorer.h"
#include "store/recognizer_file.h"

namespace protocom {

/// The measured share of correctly placed images that are listed as misplaced (docs/results/own-photos.md).
inline constexpr double kFalselyMisplaced = 0.03;

/// Checks the labels of the enrolled images by leaving each moment out (leave_moments_out). `factor`: of the logits,
/// before the softmax.
///
/// An image is misplaced if another class is the most probable one and the probability p of its own class is below t.
/// By the probabilities themselves, the class of an image has a probability below t in a share sum_k p_k [p_k < t] of
/// all cases; t is the largest value for which the mean of that share is .02 (.03 as measured). Labels do not enter t,
/// and the power that calibrates the probabilities allows for 5 % wrong labels, so that misplaced images hardly affect
/// it.
LabelCheck check_labels(const ClassScorer& scorer, const RecognizerSnapshot& snapshot, double factor,
                        Progress& progress);

/// Returns images that are in two classes: copies of one file, by hash, and nearly equal images (find_twins).
std::vector<SharedImage> images_in_two_classes(const RecognizerFile& file, const RecognizerSnapshot& snapshot);

/// Returns "'crow' and 'raven' are confused: 7 of 16 photos left out are classified as the other one".
std::string sentence_of(const ConfusedClasses& pair);

/// Returns "the same photo is in 'crow' (photos/1.jpg) and in 'raven' (photos/9.jpg)".
std::string sentence_of(const SharedImage& image);

/// Returns "more photos would help most: 'crow' (3 of 8 right by leave-one-out), ..." with the least accurate classes,
/// at most three; empty if all are accurate or nothing could be left out.
std::string sentence_of_weakest(const LabelCheck& check);

}  // namespace protocom
