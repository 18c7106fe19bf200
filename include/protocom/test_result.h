#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/skipped_files.h"

namespace protocom::v0 {

/// A labelled image that a recognizer was tested on. Its probabilities are given that it is of one of the classes;
/// `none` is separate, so that figures with and without a calibration are comparable.
struct TestedImage {
  std::string image;           ///< its path, or its id in a file of features
  std::string class_name;      ///< the right class
  bool known = true;           ///< whether the recognizer has that class; if not, "none of these" is right
  std::string answer;          ///< the most probable class
  double certainty = 0;        ///< its probability, in [0, 1]
  std::optional<double> none;  ///< the probability of none of the classes; nothing without a calibration
  int64_t rank = 0;            ///< of the right class among all, from 1 on; 0 if it is not known
  double loss = 0;             ///< -ln of the probability of the right class; 0 if it is not known

  [[nodiscard]] bool is_right() const { return rank == 1; }
  /// Whether the recognizer calls it "none of these".
  [[nodiscard]] bool is_refused() const { return none.value_or(0) >= 0.5; }
};

/// The result for one class of the recognizer.
struct TestedClass {
  std::string name;
  int64_t images = 0;
  int64_t right = 0;
  int64_t refused = 0;        ///< called "none of these"
  std::string confused_with;  ///< the most frequent wrong answer; empty if all are right
  int64_t confused = 0;       ///< how many
};

/// Images of one class with the same answer.
struct ConfusionCell {
  std::string class_name;
  std::string answer;
  int64_t images = 0;
};

/// Images whose certainty lies in [low, high), the last bin with 1.
struct CertaintyBin {
  double low = 0;
  double high = 0;
  int64_t images = 0;
  double certainty = 0;  ///< mean
  double accuracy = 0;   ///< share that is right, in [0, 1]
};

/// Labelled images of a class that the recognizer does not have.
struct UnknownClass {
  std::string name;
  int64_t images = 0;
  int64_t accepted = 0;  ///< answered by one of its classes; all of them without a calibration
};

/// A recognizer's results on labelled images that are not enrolled. Accuracy is of images of its own classes, by the
/// most probable class even if the answer is "none of these".
struct TestResult {
  std::string recognizer;  ///< its path
  std::string method;
  std::string mode;                  ///< "inductive", "transductive" or "semi-supervised"
  bool calibrated = false;           ///< whether it can answer "none of these"
  int64_t enrolled = 0;              ///< its classes
  int64_t images = 0;                ///< of its own classes
  int64_t right = 0;                 ///< of these
  double accuracy = 0;               ///< right / images
  double low = 0, high = 1;          ///< its 95 % interval (Wilson 1927), the images taken as independent
  std::optional<double> top5;        ///< share whose class is among the five most probable; nothing up to five classes
  double certainty = 0;              ///< mean
  double expected_error = 0;         ///< ECE in [0, 1]: mean over images of |accuracy - certainty| of their bin
  double log_loss = 0;               ///< mean of -ln of the probability of the right class
  int64_t refused = 0;               ///< images of its own classes that are called "none of these"
  int64_t kept_right = 0;            ///< right and not refused
  int64_t unknown = 0;               ///< images of other classes
  int64_t accepted = 0;              ///< of these, those answered by one of its classes
  std::vector<TestedClass> classes;  ///< those with images, in the order of the recognizer
  std::vector<ConfusionCell> confusion;       ///< cells with images, by class and answer in the order of the recognizer
  std::vector<CertaintyBin> bins;             ///< of 15 of equal width, those with images
  std::vector<UnknownClass> unknown_classes;  ///< by name
  std::vector<TestedImage> tested;            ///< all of them, in the order given
  int64_t already_enrolled = 0;               ///< left out: the same content is enrolled
  int64_t unlabelled = 0;                     ///< of those tested, images that it also has as unlabelled ones
  int64_t unshared = 0;  ///< left out of a comparison: of classes of only one of the two recognizers
  SkippedFiles skipped;
  std::vector<UnreadableFile> unreadable;  ///< what could not be read; the rest is tested
  Warnings warnings = {};
};

/// Two recognizers on the same images of classes that both have.
struct TestComparison {
  int64_t images = 0;
  int64_t first_only = 0;               ///< images that the first alone has right
  int64_t second_only = 0;              ///< and the second alone
  double difference = 0;                ///< accuracy of the second less that of the first, in [-1, 1]
  double low = 0, high = 0;             ///< its 95 % interval for paired shares (Agresti and Min 2005)
  double p_value = 1;                   ///< of McNemar's exact test that both are equally often right
  std::vector<int64_t> differing = {};  ///< places in TestResult::tested of images with other answers; if both are
                                        ///< calibrated, also of those that one alone refuses
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
