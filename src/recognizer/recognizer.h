#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/array.h"
#include "base/progress.h"
#include "encoders/encoder.h"
#include "encoders/extract.h"
#include "images/image.h"
#include "images/image_files.h"
#include "knowledge/knowledge.h"
#include "protocom/answer.h"
#include "protocom/enrolment.h"
#include "protocom/label_check.h"
#include "protocom/recognizer_options.h"
#include "protocom/test_result.h"
#include "recognizer/calibration.h"
#include "recognizer/class_scorer.h"
#include "recognizer/describe_class.h"
#include "recognizer/expected_accuracy.h"
#include "recognizer/store_model.h"
#include "store/recognizer_file.h"

namespace protocom {

class NearestExamples;

/// A class to enrol, or images to add to one.
struct EnrolRequest : ClassToDescribe {
  /// Files, or folders that are walked (find_images); may be empty for a new class.
  std::vector<std::string> images = {};
  NewExamples examples = {};                     ///< images known only by their features; these may be undefined
  SkippedFiles skipped = {};                     ///< files found and left out when the request was made
  std::map<std::string, std::string> rows = {};  ///< of images that are boxes: their rows, for messages (Crop::where)

  [[nodiscard]] bool is_name_alone() const {
    return !is_described() && images.empty() && !examples.features.defined() && vectors.empty();
  }
};

/// The result of adding unlabelled images.
struct LearnedUnlabelled {
  int64_t added = 0;
  int64_t held = 0;                        ///< number that were there already
  int64_t images = 0;                      ///< number now there
  std::vector<UnreadableFile> unreadable;  ///< everything else is added
};

/// A photo that expected_accuracy() leaves out and classifies.
struct LeftOutPhoto {
  LeftOutImage place;
  std::string source;  ///< its origin
  std::string hash;    ///< hash_file of the file
};

/// An image file as an enrolment stores it.
struct EmbeddedImage {
  std::string hash;       ///< hash_file of the file
  Array feature;          ///< float32 [1, d]
  std::string thumbnail;  ///< a JPEG, or empty if the recognizer keeps none
};

/// Classifies images:
///
///     Recognizer birds = Recognizer::open("birds.pcm");
///     birds.enrol({{{"okapi"}, {"okapi1.jpg", "okapi2.jpg"}}});
///     std::puts(birds.classify("holiday.jpg").ranking.front().name.c_str());
///
/// The file contains everything it needs. Enrolments by other processes take effect at the next call. Not thread-safe.
class Recognizer {
 public:
  /// Opens a file. Throws Error if it does not exist or is damaged, UsageError for a method that does not suit it.
  static Recognizer open(const std::filesystem::path& path, const RecognizerOptions& options = {});
  ~Recognizer();
  Recognizer(Recognizer&&) noexcept;
  Recognizer& operator=(Recognizer&&) noexcept;

  /// The file: for listing what is enrolled, and for changes other than enrolments.
  [[nodiscard]] RecognizerFile& file() { return file_; }
  [[nodiscard]] const RecognizerFile& file() const { return file_; }
  [[nodiscard]] const RecognizerOptions& options() const { return options_; }
  /// Calls RecognizerFile::follow, for callers that keep a recognizer open for long.
  void follow();
  /// The method that it classifies with.
  [[nodiscard]] const Method& method();

  /// Classifies an image file. Throws Error if it cannot be read, no class is enrolled, or one lacks images that the
  /// method needs.
  Answer classify(const std::filesystem::path& image);
  /// Requirements of one call for its answers; empty ones are as stated by the RecognizerOptions.
  struct Asked {
    std::optional<double> least_of_set = {};  ///< probability of a class in Answer::set (least_probability_for)
    std::optional<double> roll_up = {};       ///< in (0, 1)
  };
  /// Classifies features float32 [n, d], one answer per row.
  std::vector<Answer> classify_features(const Array& features, const Asked& asked);
  std::vector<Answer> classify_features(const Array& features) { return classify_features(features, Asked()); }

  /// Returns for each enrolled image that can be left out the probability of its own class then, for
  /// least_probability_for. Takes as long as expected_accuracy(), once per state of the classes. Throws as classify(),
  /// UsageError for a method that classifies images together.
  const std::vector<double>& left_out_probabilities(Progress& progress = Progress::none());

  /// Computes the features, float32 [n, d], of images that the caller decoded, by decode_image and resize_and_crop with
  /// settings().preprocessing; classify_features() and RecognizerFile::enrol take them. Throws Error for images of
  /// another size.
  Array features_of(const std::vector<Image>& images);
  /// Returns the thumbnail of such an image: a JPEG; empty if the file keeps none.
  [[nodiscard]] std::string thumbnail_of(const Image& image) const;
  /// Returns a class as RecognizerFile::enrol takes it, without images; it is described unless it exists and no
  /// description is given. Throws UsageError for descriptions whose vector has not been computed, and what
  /// describe_class throws.
  ClassEnrolment describe(const ClassToDescribe& request);
  /// The recognizer's knowledge of classes besides their images; nullptr: none.
  const Knowledge* knowledge();
  /// Whether a text encoder of this many dimensions can describe classes in words (check_takes_words).
  bool takes_words(int64_t numbers);

  /// Returns the method's formula for logits and familiarity of a feature (answer_formula.h). Throws as classify(), and
  /// UsageError for a method that has none.
  AnswerFormula formula();
  /// The titles of the classes, in the order of class_names(). Throws as classify().
  std::vector<std::string> class_titles();

  /// The names of the classes, in order of enrolment. Throws as classify().
  const std::vector<std::string>& class_names();
  /// Compares the answers for features, float32 [n, d], with their right classes [n]; leaves out the names of the
  /// images. `right` are names as the recognizer writes them, others count as unknown. Throws as classify().
  std::vector<TestedImage> judge(const Array& features, const std::vector<std::string>& right);

  /// Classifies many files, in the order given; `take` gets each answer, with the index of its image, as soon as it is
  /// known: batch by batch, or at the end if the method classifies all of them together. Unreadable files do not stop
  /// the others: they are returned.
  using TakeAnswer = std::function<void(size_t number, const Answer& answer)>;
  std::vector<UnreadableFile> classify(const std::vector<std::filesystem::path>& images, const TakeAnswer& take,
                                       Progress& progress = Progress::none());

  /// Does the same, but first passes the features of images to `features`, float32 [n, d]; both in the same order.
  using TakeFeatures = std::function<void(const Array& features)>;
  struct AnswerTakers {
    TakeAnswer answer;
    TakeFeatures features;
  };
  std::vector<UnreadableFile> classify(const std::vector<std::filesystem::path>& images, const AnswerTakers& take,
                                       Progress& progress = Progress::none());

  /// Gives one answer for each group of photos (group_photos), from the mean of their features, as photos of one moment
  /// count at enrolment (by_moments): equal photos together are as certain as one of them. `take` gets the readable
  /// photos of a group, in order. A method that classifies images together gets the groups as its images.
  using TakeSeries = std::function<void(const std::vector<std::filesystem::path>& photos, const Answer& answer)>;
  std::vector<UnreadableFile> classify_series(const std::vector<std::vector<std::filesystem::path>>& groups,
                                              const TakeSeries& take, Progress& progress = Progress::none());

  /// Classifies features, float32 [n, d], together if the method does so (see RecognizerOptions::together); else as
  /// classify_features().
  std::vector<Answer> classify_together(const Array& features);

  /// Computes what enrol() stores of files, in the order given; returns those that cannot be read.
  using TakeEmbedded = std::function<void(size_t number, const EmbeddedImage& embedded)>;
  std::vector<UnreadableFile> embed(const std::vector<std::filesystem::path>& images, const TakeEmbedded& take,
                                    Progress& progress = Progress::none());

  /// Adds classes, or images of classes, in one transaction. An unreadable image does not stop the others; a class
  /// without a readable image is left out. Throws Error, and leaves the file as it was, if nothing is left, and what
  /// describe_class and RecognizerFile::enrol throw.
  Enrolment enrol(const std::vector<EnrolRequest>& requests, Progress& progress = Progress::none());
  /// Does the same with embed() done elsewhere, in several processes: `embed_all` is called once with all files, unless
  /// there are none, and passes each readable one to `take`, in order.
  using EmbedAll = std::function<std::vector<UnreadableFile>(const std::vector<std::filesystem::path>& images,
                                                             const TakeEmbedded& take)>;
  Enrolment enrol(const std::vector<EnrolRequest>& requests, const EmbedAll& embed_all);
  /// Adds one class, or images of it that the caller has embedded; does not warn of duplicates. Throws what describe()
  /// and RecognizerFile::enrol throw.
  EnrolledClass enrol_class(const ClassToDescribe& request, NewExamples examples = {});
  /// Returns a sentence for each other class that has some of the images, by hash: an image in two classes makes both
  /// less certain.
  [[nodiscard]] std::vector<std::string> images_elsewhere(const std::string& class_name,
                                                          const std::vector<std::string>& hashes) const;

  /// Adds unlabelled images of the classes, from which a space without base classes is estimated. If there would be
  /// more than kMostUnlabelled, adds as many as there is room for, sampled evenly. Throws UsageError of
  /// check_learns_from_unlabelled(), Error if none can be read.
  LearnedUnlabelled add_unlabelled(const std::vector<std::filesystem::path>& images,
                                   Progress& progress = Progress::none());
  /// Whether unlabelled images change its answers.
  [[nodiscard]] bool learns_from_unlabelled() const { return model_->learns_from_unlabelled(); }
  /// Throws UsageError if unlabelled images would be useless: the method was fitted and does not adapt.
  void check_learns_from_unlabelled() const;

  /// Estimates the accuracy on new images by leave-one-out. Throws as classify().
  ExpectedAccuracy expected_accuracy(Progress& progress = Progress::none());

  /// Returns the class probabilities of features float32 [n, d], given that an image is of one of the classes, [n, c].
  /// Throws as classify().
  DoubleMatrix probabilities(const Array& features);

  /// Finds misplaced images and confused classes (protocom::check_labels), and images that are in two classes. Throws
  /// as classify().
  LabelCheck check_labels(Progress& progress = Progress::none());

  /// The photos that expected_accuracy() leaves out, and a comparison of their answers with those from other features
  /// (compare_left_out). Throw as classify().
  std::vector<LeftOutPhoto> left_out_photos();
  LeftOutComparison compare_left_out(const std::vector<LeftOutPhoto>& photos, const Array& others);

  /// Makes a calibration (see protocom::calibrate) for the recognizer's own method and stores it in the file. `others`:
  /// unknown image files; empty: classes are held out. Unreadable ones are skipped and go into `unreadable`; without
  /// it, or if none can be read, throws Error.
  Calibration calibrate(const std::vector<std::filesystem::path>& others, const CalibrationOptions& options,
                        Progress& progress = Progress::none(), std::vector<UnreadableFile>* unreadable = nullptr);
  /// Does the same with `others`, features float32 [n, d] of unknown images, or undefined.
  Calibration calibrate_on(const Array& others, const CalibrationOptions& options,
                           Progress& progress = Progress::none());

  /// Sets the threshold of "none of these" of a recognizer just created or renewed: from the photos `others` if there
  /// are any, else from its own photos, which refuses only different kinds. `kind`: whether undoing the last change
  /// removes it. Returns nothing, and changes nothing, if there are too few (ten are needed).
  enum class FirstThreshold { kOfLastChange, kForGood };
  std::optional<Calibration> take_first_threshold(const std::vector<std::filesystem::path>& others, FirstThreshold kind,
                                                  Progress& progress = Progress::none());

  /// Writes the data that make opening a recognizer of very many classes slow into a file beside it, FILE.index, which
  /// is mapped from then on; returns its path. Classes that change later are read from the recognizer. Throws
  /// UsageError for a method that does not place each class by itself.
  std::filesystem::path write_index();

  /// The calibration in use; nothing if there is none for the method.
  [[nodiscard]] const std::optional<Calibration>& calibration();

 private:
  Recognizer(RecognizerFile file, RecognizerOptions options);
  void refresh();
  void use_index();
  [[nodiscard]] ClassScorerOptions scorer_options() const;
  ClassEnrolment describe(const ClassToDescribe& request, std::set<std::string>& left_out);
  Encoder& backbone();
  [[nodiscard]] ExtractOptions extract_options() const;
  void warn_of_other_classes();
  void warn_of_one_class();
  /// The method's scores of features, from which probabilities are computed.
  struct Scored {
    FloatMatrix logits;     // [n, c]
    double factor = 1;      // multiplies the logits
    DoubleVector log_sums;  // [n], log of the sum of exp(factor * logits)
    DoubleVector familiar;  // [n]
    bool has_threshold = false;
  };
  Scored scored(const Array& features);
  std::vector<Answer> answers_of(const Array& features, Asked asked);
  std::vector<Answer> answers_of(const Array& features) { return answers_of(features, Asked()); }
  std::vector<RankedClass> ranking_of(const float* logits, double factor, double log_sum,
                                      const std::vector<int64_t>& best) const;
  void take_none(double familiarity, Answer& answer) const;
  void find_levels();
  std::vector<std::string> set_of(const float* logits, double factor, double log_sum, double least) const;
  std::optional<RankedClass> group_of(const float* logits, double factor, double log_sum, const Answer& answer,
                                      double roll_up) const;
  std::vector<AttributeEffect> attribute_effects_of(int64_t answer, const Array& feature) const;

  RecognizerFile file_;
  RecognizerOptions options_;
  std::unique_ptr<const StoreModel> model_;
  std::unique_ptr<Encoder> backbone_;     // loaded for the first image
  std::unique_ptr<Knowledge> knowledge_;  // loaded for the first class described
  // Data derived from the classes at one revision.
  RecognizerSnapshot snapshot_;
  std::unique_ptr<ClassScorer> scorer_;
  std::unique_ptr<NearestExamples> nearest_;
  std::optional<Calibration> calibration_;
  std::optional<std::vector<double>> left_out_;   // left_out_probabilities()
  std::vector<std::vector<std::string>> levels_;  // of each class, for RecognizerOptions::roll_up
  bool warned_ = false;                           // of a calibration with other classes
  bool warned_of_one_ = false;
};

}  // namespace protocom
