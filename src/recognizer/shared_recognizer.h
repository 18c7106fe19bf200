#pragma once
#include <mutex>
#include <utility>
#include <vector>

#include "images/given_image.h"
#include "protocom/enrol_sources.h"
#include "protocom/suggestion.h"
#include "recognizer/recognizer.h"

namespace protocom {

/// A recognizer shared by several threads: images are decoded concurrently, the rest of a call is exclusive. Features
/// are float32 [n, d] of its encoder; other sizes are an Error.
class SharedRecognizer {
 public:
  SharedRecognizer(const std::filesystem::path& path, const RecognizerOptions& options);

  /// Runs `work` with exclusive access to the recognizer; returns its result.
  template <typename Work>
  auto call(const Work& work) -> decltype(work(std::declval<Recognizer&>())) {
    const std::lock_guard lock(mutex_);
    return work(recognizer_);
  }
  [[nodiscard]] const RecognizerSettings& settings() const { return settings_; }

  /// Returns features, float32 [n, d]. Throws Error without images.
  Array features_of(const GivenImages& images);
  /// Returns what is stored of images, which may be read in several calls; without images, no features.
  NewExamples examples_of(const GivenImages& images);
  /// Returns examples known only by their features, which are copied. Throws Error without rows.
  [[nodiscard]] NewExamples examples_of(const Array& features) const;

  /// Classifies features. Throws Error without rows, and what Recognizer::classify_features throws.
  std::vector<Answer> classify(const Array& features);
  /// Adds a class, or images to one, as one change. There may be no images.
  Enrolment enrol(const ClassToDescribe& request, NewExamples examples);
  Enrolment enrol(const EnrolSources& sources, Progress& progress);
  /// Adds unlabelled images; returns how many were added. Throws UsageError of check_learns_from_unlabelled().
  int64_t add_unlabelled(const NewExamples& examples);
  /// Throws likewise, for callers that have not read the images yet.
  void check_learns_from_unlabelled();
  /// Tests it on labelled images, `labels` [n]: test_recognizer. Also throws what check_one_label_an_image() throws.
  /// `numbers` [n], ascending: indices among all images given; empty: from 0 on.
  TestResult test(NewExamples examples, const std::vector<std::string>& labels, std::vector<int64_t> numbers = {});
  TestResult test(const EnrolSources& sources, Progress& progress);
  /// Throws Error if the numbers of labels and images differ, for callers that have not read the images yet.
  static void check_one_label_an_image(size_t labels, size_t images);
  /// Suggests which of them to label next: suggest_rows(). `numbers` as test() takes them; Suggestion::row is one of
  /// them. Also throws Error without images.
  Suggestions suggest(NewExamples images, int64_t count, std::vector<int64_t> numbers = {});
  /// Calls Recognizer::calibrate_on with features [n, d] of unknown images, or without any.
  Calibration calibrate(const Array& others, const CalibrationOptions& options, Progress& progress);

 private:
  [[nodiscard]] Array checked(const Array& features) const;

  std::mutex mutex_;
  Recognizer recognizer_;
  RecognizerSettings settings_;
};

}  // namespace protocom
