#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocom/answer.h"
#include "protocom/calibration.h"
#include "protocom/class_info.h"
#include "protocom/class_request.h"
#include "protocom/enrol_sources.h"
#include "protocom/enrolment.h"
#include "protocom/error.h"
#include "protocom/expected_accuracy.h"
#include "protocom/image.h"
#include "protocom/label_check.h"
#include "protocom/onnx_export.h"
#include "protocom/photo_choices.h"
#include "protocom/progress.h"
#include "protocom/recognizer_options.h"
#include "protocom/recognizer_parts.h"
#include "protocom/rows.h"
#include "protocom/suggestion.h"
#include "protocom/test_result.h"
#include "protocom/text.h"

namespace protocom::v0 {

/// Classifies images; one file contains everything needed:
///
///     auto birds = protocom::Recognizer::open("birds.pcm");
///     birds.enrol("okapi", {"okapi1.jpg", "okapi2.jpg"});
///     std::puts(birds.classify("holiday.jpg").name().c_str());
///
/// May be used from several threads: images are decoded concurrently, the rest of a call is exclusive. A call sees all
/// changes that other processes made to the file before it.
class PROTOCOM_API Recognizer {
 public:
  /// Opens a file. Throws Error if it is missing, damaged or no recognizer; UsageError for a method that it cannot use.
  static Recognizer open(const std::string& path, const RecognizerOptions& options = {});
  /// Creates a file with the classes of `parts.images` and opens it; see first_enrolment(). Throws UsageError if a part
  /// is missing, Error if parts do not match one another, the file exists or no image can be read; no file is left
  /// then.
  static Recognizer create(const std::string& path, const RecognizerParts& parts, const RecognizerOptions& options = {},
                           const Progress& progress = {});
  /// The classes that create() enrolled, the images that could not be read, and warnings. No classes after open().
  [[nodiscard]] const Enrolment& first_enrolment() const;
  ~Recognizer();
  Recognizer(Recognizer&& other) noexcept;
  Recognizer& operator=(Recognizer&& other) noexcept;

  /// Classifies an image. Throws Error if it cannot be read, no class is enrolled, or a class lacks images that the
  /// method needs.
  Answer classify(const Image& image);
  /// Classifies several images; with RecognizerOptions::together, jointly. Throws Error also for no images.
  Answers classify(const std::vector<Image>& images);
  /// Classifies features [n, d] of the recognizer's encoder. Throws Error for no rows and another d.
  Answers classify_features(const Rows& features);
  /// Returns the features of images, float32 [n, d].
  Matrix features_of(const std::vector<Image>& images);

  /// Adds a class, or images to an existing one, by its name or with its description. One transaction: all or nothing.
  /// `encoder`: for descriptions, the text encoder of the recognizer's knowledge. Throws Error for an unreadable image,
  /// an unknown attribute, and with descriptions for knowledge that is not of texts, an encoder of other dimensions and
  /// a text without a word; UsageError for descriptions without an encoder.
  Enrolment enrol(const ClassRequest& one_class, const std::vector<Image>& images = {},
                  const TextEncoder* encoder = nullptr);
  /// Does the same with features [n, d].
  Enrolment enrol_features(const ClassRequest& one_class, const Rows& features, const TextEncoder* encoder = nullptr);
  /// Enrols the classes of a folder, a list, a file of features or of descriptions, or one class of files. Unreadable
  /// images are left out and named. Throws UsageError for sources without a class or of several kinds.
  Enrolment enrol(const EnrolSources& sources, const Progress& progress = {});

  /// Adds unlabelled images of the classes, which improve accuracy; returns the number of new ones. Throws UsageError
  /// if the method has a fixed space, Error for an unreadable image and if there would be more than 5,000.
  int64_t add_unlabelled(const std::vector<Image>& images);
  /// Does the same with features [n, d].
  int64_t add_unlabelled_features(const Rows& features);
  /// Number of unlabelled images.
  [[nodiscard]] int64_t unlabelled() const;
  /// Removes all unlabelled images; returns how many there were.
  int64_t remove_unlabelled();

  [[nodiscard]] std::vector<ClassInfo> classes() const;
  /// Returns the enrolled images of a class, or of all classes for an empty name. Throws Error for an unknown class.
  [[nodiscard]] std::vector<ExampleInfo> examples(const std::string& class_name = "") const;
  /// The changes below throw Error for an unknown class, a name that is taken, and an unknown example.
  void rename(const std::string& class_name, const std::string& new_name);
  /// Moves the images of a class to another one and removes the class.
  void merge(const std::string& class_name, const std::string& into);
  void remove(const std::string& class_name);
  void remove_examples(const std::vector<int64_t>& ids);
  /// Moves images, given by their ids (ExampleInfo), to another class. Returns how many were new to it; these get new
  /// ids.
  int64_t move_examples(const std::vector<int64_t>& ids, const std::string& class_name);
  /// Records that images are in their right class: check_labels() no longer reports them.
  void confirm_examples(const std::vector<int64_t>& ids);
  /// Reverts the last change of the file and returns it. Throws Error if there is none.
  std::string undo();
  /// Repeats the change that the last undo() reverted and returns it. Throws Error if there is none: a new
  /// change makes redo impossible.
  std::string redo();

  /// Sets the threshold of "none of these", a familiarity that at least 95 % of images of the classes exceed. With
  /// `similar` or `others` (unknown images), the share of unknown images above it equals the share of images of the
  /// classes below it; with `false_accept`, at most that share of unknown images does. Without `others`, images of
  /// held-out classes are the unknown ones. The file stores the calibration. Throws Error for too few images,
  /// UsageError for a rate outside (0, 1).
  Calibration calibrate(const std::vector<Image>& others = {}, const CalibrateOptions& options = {},
                        const Progress& progress = {});
  /// The current calibration, if there is one.
  [[nodiscard]] std::optional<Calibration> calibration() const;

  /// Estimates the accuracy on new images by leave-one-out. Throws as classify().
  ExpectedAccuracy expected_accuracy(const Progress& progress = {});

  /// Tests the recognizer on labelled images; `labels`: the right class of each. Enrolled images are left out. Throws
  /// Error as classify(), for another number of labels, if the recognizer has none of these classes, and if no image is
  /// left.
  TestResult test(const std::vector<Image>& images, const std::vector<std::string>& labels);
  /// Tests it on features [n, d].
  TestResult test_features(const Rows& features, const std::vector<std::string>& labels);
  /// Tests it on a folder, a list or a file of features, or on the images of one class. Unreadable images are left out
  /// and named.
  TestResult test(const EnrolSources& sources, const Progress& progress = {});

  /// Checks the labels of the enrolled images by leave-one-out: finds images that look misplaced or are in two classes,
  /// confused classes, and the accuracy of each class. Throws as classify().
  LabelCheck check_labels(const Progress& progress = {});

  /// Suggests unlabelled images to label next, the most useful first; enrolled images are left out. An image's doubt is
  /// 1 minus the difference of its two highest probabilities; labelling an image covers the doubt of others by their
  /// similarity to it. Each image suggested covers most of the remaining doubt. Throws UsageError unless `count` is
  /// positive, Error as classify() and if all images are enrolled.
  Suggestions suggest(const std::vector<Image>& images, int64_t count = 20);
  /// Does the same with features [n, d].
  Suggestions suggest_features(const Rows& features, int64_t count = 20);

  /// Returns one answer for all images of a series (a burst, a video, a visit to a camera trap), from the mean of their
  /// features. Throws as classify().
  Answer classify_series(const std::vector<Image>& images);

  /// Writes the recognizer's current state as one ONNX file of standard operators (set 17, or the encoder's own) for
  /// other programs, and beside it NAME.labels.txt. Outputs: probabilities [n, c], none_of_these [n] if it is
  /// calibrated, familiarity [n], label [n]. A TorchScript encoder must be left out. Throws Error if there is no class,
  /// the encoder cannot be converted, or a file that is not an earlier export exists at `path`; UsageError for a method
  /// that cannot be exported.
  OnnxExport export_onnx(const std::string& path, const OnnxExportOptions& options = {});

  /// The label of its method. Throws Error as classify().
  [[nodiscard]] std::string method() const;
  /// Number of dimensions d of a feature.
  [[nodiscard]] int64_t dim() const;
  [[nodiscard]] std::string path() const;

 private:
  struct Impl;
  explicit Recognizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace protocom::v0
