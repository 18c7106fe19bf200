#pragma once
#include <mutex>
#include <utility>
#include <vector>

#include "images/given_image.h"
#include "protocom/enrol_sources.h"
#include "protocom/suggestion.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// A recognizer for several threads: images are decoded concurrently, the rest of a call is exclusive.
/// Features are float32 [n, d] of its encoder; other sizes are an Error.
class SharedRecognizer {
 public:
  SharedRecognizer(const std::filesystem::path& path, const RecognizerOptions& options);

  /// The result of `work`, which has the recognizer to itself.
  template <typename Work>
  auto call(const Work& work) -> decltype(work(std::declval<Recognizer&>())) {
    const std::lock_guard lock(mutex_);
    return work(recognizer_);
  }
  [[nodiscard]] const RecognizerSettings& settings() const { return settings_; }

  /// float32 [n, d]. Throws Error without images.
  Array features_of(const GivenImages& images);
  /// What is kept of images, which may be read in several calls; of none, without features.
  NewExamples examples_of(const GivenImages& images);
  /// The same of images that are known by their features alone, which are copied. Throws Error without rows.
  [[nodiscard]] NewExamples examples_of(const Array& features) const;

  /// Throws Error without rows, and what Recognizer::classify_features throws.
  std::vector<Answer> classify(const Array& features);
  /// Adds a class, or images to one, as one change. There may be no images.
  Enrolment enrol(const ClassToDescribe& request, NewExamples examples);
  Enrolment enrol(const EnrolSources& sources, Progress& progress);
  /// Adds unlabelled images; returns how many were added. Throws UsageError of check_learns_from_unlabelled().
  int64_t add_unlabelled(const NewExamples& examples);
  /// Throws that, for callers that have not read the images yet.
  void check_learns_from_unlabelled();
  /// How good it is on labelled images, `labels` [n]: test_recognizer. Throws what check_one_label_an_image() throws
  /// too. `numbers` [n], ascending: places among all that were given; empty: those from 0 on.
  TestResult test(NewExamples examples, const std::vector<std::string>& labels, std::vector<int64_t> numbers = {});
  TestResult test(const EnrolSources& sources, Progress& progress);
  /// Throws Error for other numbers of labels and images, for callers that have not read the images yet.
  static void check_one_label_an_image(size_t labels, size_t images);
  /// Which of them to label next: suggest_rows(). Throws Error without images too.
  Suggestions suggest(NewExamples images, int64_t count);
  /// Recognizer::calibrate_on with the features [n, d] of images of none of the classes, or without any.
  Calibration calibrate(const Array& others, const CalibrationOptions& options, Progress& progress);

 private:
  [[nodiscard]] Array checked(const Array& features) const;

  std::mutex mutex_;
  Recognizer recognizer_;
  RecognizerSettings settings_;
};

}  // namespace protocom
