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

/// A class to enrol, or images of one.
struct EnrolRequest : ClassToDescribe {
  /// Files, or folders that are walked (find_images); may be none for a new class.
  std::vector<std::string> images = {};
  NewExamples examples = {};  ///< images that are known by their features alone; these may be undefined
  SkippedFiles skipped = {};  ///< found and left out when the request was made

  [[nodiscard]] bool is_name_alone() const {
    return !is_described() && images.empty() && !examples.features.defined() && vectors.empty();
  }
};

/// What became of unlabelled images.
struct LearnedUnlabelled {
  int64_t added = 0;
  int64_t held = 0;                        ///< were there already
  int64_t images = 0;                      ///< there are now
  std::vector<UnreadableFile> unreadable;  ///< the rest is added
};

/// A photo that expected_accuracy() leaves out and classifies.
struct LeftOutPhoto {
  LeftOutImage place;
  std::string source;  ///< where it came from
  std::string hash;    ///< hash_file of it
};

/// An image file as an enrolment keeps it.
struct EmbeddedImage {
  std::string hash;       ///< hash_file of it
  Array feature;          ///< float32 [1, d]
  std::string thumbnail;  ///< a JPEG, or nothing if the recognizer keeps none
};

/// From an image to an answer:
///
///     Recognizer birds = Recognizer::open("birds.pcm");
///     birds.enrol({{{"okapi"}, {"okapi1.jpg", "okapi2.jpg"}}});
///     std::puts(birds.classify("holiday.jpg").ranking.front().name.c_str());
///
/// The file has everything it needs. What other processes enrol in it takes effect at the next call. Not thread-safe.
class Recognizer {
 public:
  /// Throws Error when there is no such file or it is damaged, UsageError for a method that does not fit it.
  static Recognizer open(const std::filesystem::path& path, const RecognizerOptions& options = {});
  ~Recognizer();
  Recognizer(Recognizer&&) noexcept;
  Recognizer& operator=(Recognizer&&) noexcept;

  /// The file: lists of what is enrolled, and changes other than enrolments.
  [[nodiscard]] RecognizerFile& file() { return file_; }
  [[nodiscard]] const RecognizerFile& file() const { return file_; }
  [[nodiscard]] const RecognizerOptions& options() const { return options_; }
  /// RecognizerFile::follow, for callers that keep a recognizer open for long.
  void follow();
  /// What it classifies with.
  [[nodiscard]] const Method& method();

  /// Throws Error when the image cannot be read, no class is enrolled, or one lacks images that the method needs.
  Answer classify(const std::filesystem::path& image);
  /// What a call asks of its answers; what is empty is as the RecognizerOptions state.
  struct Asked {
    std::optional<double> least_of_set = {};  ///< probability of a class in Answer::set (least_probability_for)
    std::optional<double> roll_up = {};       ///< in (0, 1)
  };
  /// The same for features float32 [n, d]: an answer a row.
  std::vector<Answer> classify_features(const Array& features, const Asked& asked);
  std::vector<Answer> classify_features(const Array& features) { return classify_features(features, Asked()); }

  /// For each enrolled image that can be left out the probability of its own class then, for least_probability_for.
  /// Takes as long as expected_accuracy(), once for the classes as they are. Throws as classify(), UsageError for a
  /// method that classifies images together.
  const std::vector<double>& left_out_probabilities(Progress& progress = Progress::none());

  /// For callers that decode images themselves, by decode_image and resize_and_crop with settings().preprocessing:
  /// their features, float32 [n, d], which classify_features() and RecognizerFile::enrol take. Throws Error for images
  /// of another size.
  Array features_of(const std::vector<Image>& images);
  /// The thumbnail of such an image: a JPEG; empty if the file keeps none.
  [[nodiscard]] std::string thumbnail_of(const Image& image) const;
  /// A class as RecognizerFile::enrol takes it, without images: described unless it is there and no description is
  /// given. Throws UsageError for descriptions whose vector has not been made, and what describe_class throws.
  ClassEnrolment describe(const ClassToDescribe& request);
  /// The recognizer's knowledge of classes besides their images; nullptr: none.
  const Knowledge* knowledge();
  /// Whether a text encoder of this many dimensions can describe classes in words (check_takes_words).
  bool takes_words(int64_t numbers);

  /// How the method makes logits and familiarity of a feature, written out (answer_formula.h). Throws as classify(),
  /// and UsageError for a method that has no such formula.
  AnswerFormula formula();
  /// The titles of the classes, in the order of class_names(). Throws as classify().
  std::vector<std::string> class_titles();

  /// The classes, in the order of their enrolment. Throws as classify().
  const std::vector<std::string>& class_names();
  /// The answers to images of these features, float32 [n, d], compared with their right classes [n]; without the names
  /// of the images. `right` are names as the recognizer writes them, those it does not have are unknown. Throws as
  /// classify().
  std::vector<TestedImage> judge(const Array& features, const std::vector<std::string>& right);

  /// Many files, in the order given; `take` gets each answer, with the number of its image, as soon as it is known:
  /// batch by batch, or at the end where the method looks at all of them together. One that cannot be read does not
  /// stop the others: those are returned.
  using TakeAnswer = std::function<void(size_t number, const Answer& answer)>;
  std::vector<UnreadableFile> classify(const std::vector<std::filesystem::path>& images, const TakeAnswer& take,
                                       Progress& progress = Progress::none());

  /// The same, which first gives the features of images to `features`, float32 [n, d]; both in the same order.
  using TakeFeatures = std::function<void(const Array& features)>;
  struct AnswerTakers {
    TakeAnswer answer;
    TakeFeatures features;
  };
  std::vector<UnreadableFile> classify(const std::vector<std::filesystem::path>& images, const AnswerTakers& take,
                                       Progress& progress = Progress::none());

  /// One answer for each group of photos (group_photos), of the mean of their features, as photos of one moment count
  /// when they are enrolled (by_moments): equal photos together are as certain as one of them. `take` gets the photos
  /// of a group that could be read, in order. For a method that looks at all images together the groups are its images.
  using TakeSeries = std::function<void(const std::vector<std::filesystem::path>& photos, const Answer& answer)>;
  std::vector<UnreadableFile> classify_series(const std::vector<std::vector<std::filesystem::path>>& groups,
                                              const TakeSeries& take, Progress& progress = Progress::none());

  /// The answers to images of these features together, float32 [n, d], for a method that looks at all of them (see
  /// RecognizerOptions::together); for others as classify_features().
  std::vector<Answer> classify_together(const Array& features);

  /// What enrol() makes of files first, in the order given; those that cannot be read are returned.
  using TakeEmbedded = std::function<void(size_t number, const EmbeddedImage& embedded)>;
  std::vector<UnreadableFile> embed(const std::vector<std::filesystem::path>& images, const TakeEmbedded& take,
                                    Progress& progress = Progress::none());

  /// Adds classes, or images of classes, in one transaction. An image that cannot be read does not stop the others; a
  /// class of which none can is left out. Throws Error, and leaves the file as it was, when nothing is left, and what
  /// describe_class and RecognizerFile::enrol throw.
  Enrolment enrol(const std::vector<EnrolRequest>& requests, Progress& progress = Progress::none());
  /// The same with embed() done elsewhere, in several processes: `embed_all` is called once with all files unless there
  /// are none, and gives each that it can read to `take`, in order.
  using EmbedAll = std::function<std::vector<UnreadableFile>(const std::vector<std::filesystem::path>& images,
                                                             const TakeEmbedded& take)>;
  Enrolment enrol(const std::vector<EnrolRequest>& requests, const EmbedAll& embed_all);
  /// Adds one class, or images of it that the caller has embedded; duplicates are not warned of. Throws what describe()
  /// and RecognizerFile::enrol throw.
  EnrolledClass enrol_class(const ClassToDescribe& request, NewExamples examples = {});
  /// For each other class that has some of the images, by their hashes, a sentence: an image of two classes makes both
  /// less certain.
  [[nodiscard]] std::vector<std::string> images_elsewhere(const std::string& class_name,
                                                          const std::vector<std::string>& hashes) const;

  /// Adds unlabelled images of the classes, by which a space without base classes is estimated. If there would be more
  /// than kMostUnlabelled, adds as many as there is room for, sampled evenly. Throws UsageError of
  /// check_learns_from_unlabelled(), Error if none can be read.
  LearnedUnlabelled add_unlabelled(const std::vector<std::filesystem::path>& images,
                                   Progress& progress = Progress::none());
  /// Whether it does.
  [[nodiscard]] bool learns_from_unlabelled() const { return model_->learns_from_unlabelled(); }
  /// Throws UsageError if such images would be of no use: the method was fitted and stays as it is.
  void check_learns_from_unlabelled() const;

  /// The expected accuracy on new images, by leave-one-out. Throws as classify().
  ExpectedAccuracy expected_accuracy(Progress& progress = Progress::none());

  /// Probabilities of the classes given that an image is of one of them, [n, c], of features float32 [n, d]. Throws as
  /// classify().
  DoubleMatrix probabilities(const Array& features);

  /// Misplaced images and confused classes (protocom::check_labels), and images that are in two classes. Throws as
  /// classify().
  LabelCheck check_labels(Progress& progress = Progress::none());

  /// The photos that expected_accuracy() leaves out, and a comparison of their answers with those by other features
  /// (compare_left_out). Throw as classify().
  std::vector<LeftOutPhoto> left_out_photos();
  LeftOutComparison compare_left_out(const std::vector<LeftOutPhoto>& photos, const Array& others);

  /// Makes a calibration (see protocom::calibrate) for the recognizer's own method and keeps it in the file. `others`:
  /// image files of none of the classes; empty: classes are held out. Those that cannot be read are skipped and go into
  /// `unreadable`; without it, or if none can be read, it throws Error.
  Calibration calibrate(const std::vector<std::filesystem::path>& others, const CalibrationOptions& options,
                        Progress& progress = Progress::none(), std::vector<UnreadableFile>* unreadable = nullptr);
  /// The same with `others`, features float32 [n, d] of images of none of the classes, or undefined.
  Calibration calibrate_on(const Array& others, const CalibrationOptions& options,
                           Progress& progress = Progress::none());

  /// The threshold of "none of these" of a recognizer that was just made or renewed, which undo of its last change
  /// removes or not: of the photos of `others` if there are any, else of its own photos, which refuses different kinds
  /// alone. Nothing, and no change, if they are too few (ten are needed).
  enum class FirstThreshold { kOfLastChange, kForGood };
  std::optional<Calibration> take_first_threshold(const std::vector<std::filesystem::path>& others, FirstThreshold kind,
                                                  Progress& progress = Progress::none());

  /// Writes what opening a recognizer of very many classes takes long for into a file beside it, FILE.index, which is
  /// mapped from then on; returns its path. Classes that change later are read from the recognizer. Throws UsageError
  /// for a method that does not place each class by itself.
  std::filesystem::path write_index();

  /// The calibration that answers follow; nothing when there is none for the method.
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
    double factor = 1;      // of the logits
    DoubleVector log_sums;  // [n], of exp(factor * logits)
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
  std::unique_ptr<Encoder> backbone_;     // read when the first image comes
  std::unique_ptr<Knowledge> knowledge_;  // read when the first class is described
  // What follows from the classes as they were at a revision.
  RecognizerSnapshot snapshot_;
  std::unique_ptr<ClassScorer> scorer_;
  std::unique_ptr<NearestExamples> nearest_;
  std::optional<Calibration> calibration_;
  std::optional<std::vector<double>> left_out_;   // left_out_probabilities()
  std::vector<std::vector<std::string>> levels_;  // of each class, for RecognizerOptions::roll_up
  bool warned_ = false;                           // that it is of other classes
  bool warned_of_one_ = false;
};

}  // namespace protocom
