#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/skipped_files.h"

namespace protocom::v0 {

/// A labelled image that a recognizer was tested on. Probabilities are conditional on the image being of one of the
/// classes; `none` is separate, so that figures with and without a calibration are comparable.
struct TestedImage {
  std::string image;           ///< its path, or its id in a file of features
  std::string class_name;      ///< the right class
  bool known = true;           ///< whether the recognizer has that class; if not, "none of these" is right
  std::string answer;          ///< the most probable class
  double certainty = 0;        ///< the probability of `answer`, in [0, 1]
  std::optional<double> none;  ///< the probability of "none of these"; empty without a calibration
  int64_t rank = 0;            ///< rank of the right class, from 1; 0 if the class is unknown
  double loss = 0;             ///< -ln of the probability of the right class; 0 if the class is unknown

  [[nodiscard]] bool is_right() const { return rank == 1; }
  /// Whether the recognizer answers "none of these".
  [[nodiscard]] bool is_refused() const { return none.value_or(0) >= 0.5; }
};

/// The result for one class of the recognizer.
struct TestedClass {
  std::string name;
  int64_t images = 0;
  int64_t right = 0;
  int64_t refused = 0;        ///< answered "none of these"
  std::string confused_with;  ///< the most frequent wrong answer; empty if all are right
  int64_t confused = 0;       ///< how often that one
};

/// Images of one class with the same answer.
struct ConfusionCell {
  std::string class_name;
  std::string answer;
  int64_t images = 0;
};

/// Images whose certainty lies in [low, high); the last bin includes 1.
struct CertaintyBin {
  double low = 0;
  double high = 0;
  int64_t images = 0;
  double certainty = 0;  ///< mean certainty
  double accuracy = 0;   ///< share that is right, in [0, 1]
};

/// Labelled images of a class that the recognizer does not have.
struct UnknownClass {
  std::string name;
  int64_t images = 0;
  int64_t accepted = 0;  ///< answered with one of its classes; all of them without a calibration
};

/// A recognizer's results on labelled images that are not enrolled. Accuracy is over images of its own classes and
/// counts the most probable class even if the answer is "none of these".
struct TestResult {
  std::string recognizer;  ///< its path
  std::string method;
  std::string mode;            ///< "inductive" or "transductive"
  bool calibrated = false;     ///< whether it can answer "none of these"
  int64_t enrolled = 0;        ///< number of its classes
  int64_t images = 0;          ///< number of images of its own classes
  int64_t right = 0;           ///< number of these classified correctly
  double accuracy = 0;         ///< right / images
  double low = 0, high = 1;    ///< 95 % interval of `accuracy` (Wilson 1927), assuming independent images
  std::optional<double> top5;  ///< share whose class is among the five most probable; empty for up to five classes
  double certainty = 0;        ///< mean certainty
  double expected_error = 0;   ///< ECE in [0, 1]: mean over images of |accuracy - certainty| of their bin
  double log_loss = 0;         ///< mean of -ln of the probability of the right class
  int64_t refused = 0;         ///< images of its own classes answered "none of these"
  int64_t kept_right = 0;      ///< right and not refused
  int64_t unknown = 0;         ///< images of other classes
  int64_t accepted = 0;        ///< number of these answered with one of its classes
  std::vector<TestedClass> classes;           ///< those with images, in the order of the recognizer
  std::vector<ConfusionCell> confusion;       ///< cells with images, by class and answer in the order of the recognizer
  std::vector<CertaintyBin> bins;             ///< those with images, of 15 bins of equal width
  std::vector<UnknownClass> unknown_classes;  ///< sorted by name
  std::vector<TestedImage> tested;            ///< all images, in the order given
  int64_t already_enrolled = 0;               ///< left out: the same content is enrolled
  int64_t unlabelled = 0;                     ///< tested images that it also has as unlabelled ones
  int64_t unshared = 0;  ///< left out of a comparison: their class is in only one of the two recognizers
  SkippedFiles skipped;
  std::vector<UnreadableFile> unreadable;  ///< what could not be read; everything else is tested
  Warnings warnings = {};
};

/// Two recognizers tested on the same images, of classes that both have.
struct TestComparison {
  int64_t images = 0;
  int64_t first_only = 0;               ///< images that only the first classifies correctly
  int64_t second_only = 0;              ///< images that only the second classifies correctly
  double difference = 0;                ///< accuracy of the second minus that of the first, in [-1, 1]
  double low = 0, high = 0;             ///< 95 % interval of `difference` for paired proportions (Agresti and Min 2005)
  double p_value = 1;                   ///< of McNemar's exact test of the hypothesis that both are equally often right
  std::vector<int64_t> differing = {};  ///< indices into TestResult::tested of images with different answers; if both
                                        ///< are calibrated, also of those that only one refuses
};

}  // namespace protocom::v0

namespace protocom {
using v0::CertaintyBin;
using v0::ConfusionCell;
using v0::TestComparison;
using v0::TestedClass;
using v0::TestedImage;
using v0::TestResult;
using v0::UnknownClass;
}  // namespace protocom
