#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocom/error.h"

namespace protocom::v0 {

/// A class and its probability.
struct RankedClass {
  std::string name;
  double probability = 0;
};

/// An attribute of the predicted class and its contribution to that class's calibrated logit.
struct AttributeEffect {
  std::string name;   ///< in the recognizer's knowledge
  std::string words;  ///< display name; may be the name
  double effect = 0;  ///< negative: evidence against the class
};

/// An enrolled image similar to the query.
struct NearImage {
  int64_t id = 0;  ///< see ExampleInfo
  std::string class_name;
  std::string source;  ///< its origin
  /// Cosine similarity in [-1, 1], in the space where the method compares images; if it has none, between features
  /// minus their mean over all enrolled images.
  double similarity = 0;
};

/// A recognizer's answer for an image.
struct Answer {
  std::vector<RankedClass> ranking;  ///< most probable first; the probabilities of all classes and `none` sum to 1
  /// Probability that the image is of none of the classes. Empty without a calibration; the probabilities of `ranking`
  /// are then conditional on the image being of one of the classes.
  std::optional<double> none;
  double familiarity = 0;             ///< how well the image fits any class; see Calibration::threshold
  std::optional<bool> none_of_these;  ///< whether `none` is at least 1/2; empty without a calibration
  /// The prediction set for RecognizerOptions::coverage, most probable first; empty without it.
  std::vector<std::string> set;
  /// With RecognizerOptions::roll_up, if the first class is less probable than that: the smallest group of classes that
  /// contains it and reaches that probability, by RecognizerOptions::groups, titles or names ("animals/birds").
  std::optional<RankedClass> group;
  std::vector<AttributeEffect> attributes;  ///< those that changed the first class's logit most; may be empty
  std::vector<NearImage> nearest;           ///< of the 20 most probable classes, most similar first; may be empty
  std::string nearest_note;  ///< why the first class differs from the nearest image's; empty if it does not
  Warnings warnings;

  /// The name of the most probable class; empty for "none of these".
  [[nodiscard]] std::string name() const {
    return none_of_these.value_or(false) || ranking.empty() ? std::string() : ranking.front().name;
  }
};

/// Answers for the images of one call, in the order given.
struct Answers {
  std::vector<Answer> answers;
  Warnings warnings;

  [[nodiscard]] size_t size() const { return answers.size(); }
  [[nodiscard]] const Answer& operator[](size_t i) const { return answers[i]; }
  [[nodiscard]] std::vector<Answer>::const_iterator begin() const { return answers.begin(); }
  [[nodiscard]] std::vector<Answer>::const_iterator end() const { return answers.end(); }
};

}  // namespace protocom::v0

namespace protocom {
using v0::Answer;
using v0::Answers;
using v0::AttributeEffect;
using v0::NearImage;
using v0::RankedClass;
}  // namespace protocom
