#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocom/answer.h"
#include "protocom/calibration.h"
#include "protocom/class_info.h"
#include "protocom/enrol_sources.h"
#include "protocom/enrolment.h"
#include "protocom/error.h"
#include "protocom/expected_accuracy.h"
#include "protocom/image.h"
#include "protocom/label_check.h"
#include "protocom/onnx_export.h"
#include "protocom/progress.h"
#include "protocom/recognizer_options.h"
#include "protocom/recognizer_parts.h"
#include "protocom/rows.h"
#include "protocom/suggestion.h"
#include "protocom/test_result.h"
#include "protocom/text.h"

namespace protocom::v0 {

/// Classifies images; one file has all that is needed:
///
///     auto birds = protocom::Recognizer::open("birds.pcm");
///     birds.enrol("okapi", {"okapi1.jpg", "okapi2.jpg"});
///     std::puts(birds.classify("holiday.jpg").name().c_str());
///
/// May be used from several threads: images are decoded concurrently, the rest of a call is exclusive. Changes that
/// other processes make to the file count from the next call on.
class PROTOCOM_API Recognizer {
 public:
  /// Throws Error for a missing, damaged or other file; UsageError for a method that does not match it.
  static Recognizer open(const std::string& path, const RecognizerOptions& options = {});
  /// Makes a file with the classes of `parts.images` and opens it. Throws UsageError if a part is missing, Error
  /// if parts do not match one another, the file exists already or no image can be read; then no file is made.
  static Recognizer create(const std::string& path, const RecognizerParts& parts, const RecognizerOptions& options = {},
                           const Progress& progress = {});
  ~Recognizer();
  Recognizer(Recognizer&& other) noexcept;
  Recognizer& operator=(Recognizer&& other) noexcept;

  /// Throws Error if the image cannot be read, no class is enrolled, or one lacks images that the method needs.
  Answer classify(const Image& image);
  /// All of them; with RecognizerOptions::together they are classified jointly. Throws Error without images too.
  Answers classify(const std::vector<Image>& images);
  /// The same of features [n, d] of the recognizer's encoder. Throws Error for no rows and another d.
  Answers classify_features(const Rows& features);
  /// Features float32 [n, d] of images.
  Matrix features_of(const std::vector<Image>& images);

  /// Adds a class, or images to one; `attributes`: of the class, by their names in the recognizer's knowledge. One
  /// transaction: all or nothing. Throws Error for an image that cannot be read and an attribute that is not known.
  Enrolment enrol(const std::string& class_name, const std::vector<Image>& images,
                  const std::vector<std::string>& attributes = {});
  /// The same with texts that describe the class, such as "a small brown bird with a red breast"; their mean vector
  /// counts. `encoder` is the one of the recognizer's knowledge. Throws Error for a recognizer whose knowledge is not
  /// of texts, an encoder of other dimensions and a text without a word.
  Enrolment enrol_described(const std::string& class_name, const std::vector<std::string>& descriptions,
                            const TextEncoder& encoder, const std::vector<Image>& images = {});
  /// The same of features [n, d].
  Enrolment enrol_features(const std::string& class_name, const Rows& features,
                           const std::vector<std::string>& attributes = {});
  /// The classes of a folder, a list, a file of features or of descriptions, or one class of files. Images that cannot
  /// be read are left out and named. Throws UsageError for sources that name no class or several kinds of them.
  Enrolment enrol(const EnrolSources& sources, const Progress& progress = {});

  /// Adds unlabelled images of the classes, from which it learns how images of a class differ; returns the number of
  /// new ones. Throws UsageError if its method has a fixed space, Error for an image that cannot be read and if it
  /// would hold more than 5,000.
  int64_t add_unlabelled(const std::vector<Image>& images);
  /// The same of features [n, d].
  int64_t add_unlabelled_features(const Rows& features);
  /// How many it holds.
  [[nodiscard]] int64_t unlabelled() const;
  /// Removes them all; returns how many there were.
  int64_t remove_unlabelled();

  [[nodiscard]] std::vector<ClassInfo> classes() const;
  /// Of a class; of all for an empty name. Throws Error for an unknown one.
  [[nodiscard]] std::vector<ExampleInfo> examples(const std::string& class_name = "") const;
  /// Throw Error for an unknown class, a name that is taken, and an example that is not there.
  void rename(const std::string& class_name, const std::string& new_name);
  /// Moves the images of a class to another one, and removes it.
  void merge(const std::string& class_name, const std::string& into);
  void remove(const std::string& class_name);
  void remove_examples(const std::vector<int64_t>& ids);
  /// Reverts the last change of the file and returns it. Throws Error if there is none.
  std::string undo();
  /// Repeats the change that the last undo() reverted and returns it. Throws Error if there is none: a new
  /// change makes redo impossible.
  std::string redo();

  /// Sets the threshold of "none of these": images with a lower familiarity are of none of the classes. By default at
  /// least 95 % of own images exceed it. With `similar` or `others` (unknown images), as many unknown images exceed it
  /// as own images do not; with `false_accept`, at most that share of unknown images. Without `others`, held-out
  /// classes are the unknown images. Kept in the file. Throws Error if there are too few images, UsageError for a rate
  /// outside (0, 1).
  Calibration calibrate(const std::vector<Image>& others = {}, std::optional<double> false_accept = {},
                        const Progress& progress = {}, bool similar = false);
  /// The current calibration; nothing if there is none.
  [[nodiscard]] std::optional<Calibration> calibration() const;

  /// The expected accuracy on new images, by leave-one-out. Throws as classify().
  ExpectedAccuracy expected_accuracy(const Progress& progress = {});

  /// Accuracy on labelled images that are not enrolled, `labels` the right class of each; those whose content is
  /// enrolled are left out. Throws Error as classify(), for other numbers of labels, if none of the classes is its
  /// own and if nothing is left to test.
  TestResult test(const std::vector<Image>& images, const std::vector<std::string>& labels);
  /// The same of features [n, d].
  TestResult test_features(const Rows& features, const std::vector<std::string>& labels);
  /// The same of a folder, a list or a file of features, or of the images of one class. Those that cannot be read are
  /// left out and named.
  TestResult test(const EnrolSources& sources, const Progress& progress = {});

  /// Checks the labels of the enrolled images by leave-one-out: images that look misplaced or are in two
  /// classes, classes that are confused, and the accuracy of each. Throws as classify().
  LabelCheck check_labels(const Progress& progress = {});

  /// Which unlabelled images to label next, the most useful first; those whose content is enrolled are left out. Each
  /// covers most of the remaining doubt: an image's doubt is 1 minus the margin of its two most probable classes, and
  /// labelling an image covers the doubt of others by their similarity to it. Throws UsageError unless `count` is
  /// positive, Error as classify() and if all images are enrolled.
  Suggestions suggest(const std::vector<Image>& images, int64_t count = 20);
  /// The same of features [n, d].
  Suggestions suggest_features(const Rows& features, int64_t count = 20);

  /// One answer for all the images, which are of one moment: frames of a burst, a video or a visit to a camera trap. It
  /// is the answer for the mean of their features. Throws as classify().
  Answer classify_series(const std::vector<Image>& images);

  /// Writes the recognizer as it is now as one ONNX file of standard operators (set 17, or the encoder's own), which
  /// runs wherever ONNX does, and beside it NAME.labels.txt. Outputs: probabilities [n, c], none_of_these [n] if it
  /// is calibrated, familiarity [n], label [n]. A TorchScript encoder must be left out. Throws Error
  /// if there is no class, the encoder cannot be kept, or another file than an earlier export is at `path`;
  /// UsageError for a method that cannot be exported.
  OnnxExport export_onnx(const std::string& path, const OnnxExportOptions& options = {});

  /// Its method. Throws Error as classify().
  [[nodiscard]] std::string method() const;
  /// d of its encoder.
  [[nodiscard]] int64_t dim() const;
  [[nodiscard]] std::string path() const;

 private:
  struct Impl;
  explicit Recognizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom::v0
