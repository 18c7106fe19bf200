#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/image.h"
#include "protocom/progress.h"
#include "protocom/rows.h"
#include "protocom/text.h"

namespace protocom::v0 {

/// What a recognizer is made from; files.
struct RecognizerParts {
  std::string backbone;            ///< the encoder, see Backbone
  std::string preprocessing = {};  ///< see BackboneOptions
  std::string fitted = {};         ///< of `protocom fit` or Fitted::save; or
  std::string space = {};          ///< the same of other classes: only its space is taken; or
  std::string model = {};          ///< of `protocom complete`; or none of them
  std::string knowledge = {};      ///< of the classes; needed with a model or a method that was fitted with it
  std::string text_encoder = {};   ///< the folder of the text encoder that was trained with the backbone, in place of
                                   ///< knowledge: classes are described in words (enrol_described)
  bool backbone_inside = true;     ///< keep its bytes in the recognizer
  bool half_features = false;      ///< keep features as float16
  bool thumbnails = true;          ///< keep small JPEGs of enrolled images
  std::string unlabelled = {};     ///< a folder of images of the classes to come, whose classes nobody has said, from
                                   ///< which recognition learns too; neither with `fitted` nor with `model`
};

/// How a recognizer answers.
struct RecognizerOptions {
  std::string method = {};  ///< empty: the recognizer's own
  bool together = false;    ///< images of one call help one another (transductive)
  std::string device = "auto";
  int64_t top = 5;                            ///< classes of an answer
  int64_t nearest = 3;                        ///< enrolled images of an answer
  int64_t attributes = 0;                     ///< attributes of an answer
  std::map<std::string, double> shares = {};  ///< of the classes among the images of a call, for methods that are told
};

/// A class and how probable it is.
struct RankedClass {
  std::string name;
  double probability = 0;
};

/// An attribute of the class that an image was taken for, and what it adds to that class's calibrated logit.
struct TellingAttribute {
  std::string name;
  double effect = 0;
};

/// An enrolled image that looks like the one asked about.
struct NearImage {
  int64_t id = 0;
  std::string class_name;
  std::string source;     ///< where it came from
  double similarity = 0;  ///< cosine, in [-1, 1]
};

/// What a recognizer says of an image.
struct Answer {
  std::vector<RankedClass> ranking;   ///< most probable first; the probabilities of all classes and `none` sum to 1
  double familiarity = 0;             ///< how well it fits any class; docs/design.md
  std::optional<double> none;         ///< the probability of none of the classes; nothing without a calibration
  std::optional<bool> none_of_these;  ///< that is at least 1/2; nothing without a calibration
  std::vector<TellingAttribute> attributes;
  std::vector<NearImage> nearest;
  Warnings warnings;

  /// The most probable class; empty where it is of none.
  [[nodiscard]] std::string name() const {
    return none_of_these.value_or(false) || ranking.empty() ? std::string() : ranking.front().name;
  }
};

/// Answers to the images of one call, in their order.
struct Answers {
  std::vector<Answer> answers;
  Warnings warnings;

  [[nodiscard]] size_t size() const { return answers.size(); }
  [[nodiscard]] const Answer& operator[](size_t i) const { return answers[i]; }
  [[nodiscard]] std::vector<Answer>::const_iterator begin() const { return answers.begin(); }
  [[nodiscard]] std::vector<Answer>::const_iterator end() const { return answers.end(); }
};

/// What became of a class that was enrolled.
struct EnrolledClass {
  std::string name;
  bool is_new = false;
  int64_t added = 0;   ///< images that it did not hold already
  int64_t images = 0;  ///< that it holds now
};

/// What an enrolment did.
struct Enrolment {
  std::vector<EnrolledClass> classes;
  std::vector<std::string> unreadable;  ///< images of a folder that could not be read, a sentence each
  std::string skipped;                  ///< "12 files are left out: 9 .txt, ..."; empty: none
  Warnings warnings;
};

/// A class as lists show it.
struct ClassInfo {
  std::string name;
  std::string title;  ///< what people call it
  int64_t images = 0;
};

/// An enrolled image as lists show it.
struct ExampleInfo {
  int64_t id = 0;
  std::string class_name;
  std::string source;
};

/// What makes scores probabilities, and from which familiarity on an image is of one of the classes.
struct Calibration {
  double factor = 1;        ///< of the logits
  double threshold = 0;     ///< of the familiarity
  double false_accept = 0;  ///< the rate of strangers above it: the one asked for, else what is expected
  double accepted = 0;      ///< the share of held-out images of the classes above it
  double accuracy = 0;      ///< of held-out images of the classes
  int64_t images = 0;       ///< held out
  int64_t strangers = 0;    ///< images of none of the classes
  int64_t classes = 0;
  Warnings warnings;
};

/// From an image to an answer; one file has all that is needed:
///
///     auto birds = protocom::Recognizer::open("birds.pcm");
///     birds.enrol("okapi", {"okapi1.jpg", "okapi2.jpg"});
///     std::puts(birds.classify("holiday.jpg").name().c_str());
///
/// May be used from several threads: images are decoded at once, the rest of a call has the recognizer to itself. What
/// other processes enrol in the file counts from the next call on.
class PROTOCOM_API Recognizer {
 public:
  /// Throws Error for no such file, another one or a damaged one; UsageError for a method that does not fit it.
  static Recognizer open(const std::string& path, const RecognizerOptions& options = {});
  /// Makes a file without classes and opens it. Throws UsageError where a part is missing, Error where parts do not fit
  /// one another or a file is there already.
  static Recognizer create(const std::string& path, const RecognizerParts& parts,
                           const RecognizerOptions& options = {});
  ~Recognizer();
  Recognizer(Recognizer&& other) noexcept;
  Recognizer& operator=(Recognizer&& other) noexcept;

  /// Throws Error where the image cannot be read, no class is enrolled, or one lacks images that the method needs.
  Answer classify(const Image& image);
  /// All of them; with RecognizerOptions::together they help one another. Throws Error without images too.
  Answers classify(const std::vector<Image>& images);
  /// The same of features [n, d] of the recognizer's encoder. Throws Error for no rows and another d.
  Answers classify_features(const Rows& features);
  /// Features float32 [n, d] of images.
  Matrix features_of(const std::vector<Image>& images);

  /// Adds a class, or images to one; `attributes`: what the class has, in words of the recognizer's knowledge. One
  /// transaction: all or nothing. Throws Error for an image that cannot be read and an attribute that is not known.
  Enrolment enrol(const std::string& class_name, const std::vector<Image>& images,
                  const std::vector<std::string>& attributes = {});
  /// The same with texts that say what the class is, such as "a small brown bird with a red breast"; their mean vector
  /// counts. `encoder` is the one of the recognizer's knowledge. Throws Error for a recognizer whose knowledge is no
  /// texts, another encoder's sizes and a text without a word.
  Enrolment enrol_described(const std::string& class_name, const std::vector<std::string>& descriptions,
                            const TextEncoder& encoder, const std::vector<Image>& images = {});
  /// The same of features [n, d].
  Enrolment enrol_features(const std::string& class_name, const Rows& features,
                           const std::vector<std::string>& attributes = {});
  /// A class for each subfolder, with the images below it. Images that cannot be read are left out and named.
  Enrolment enrol_folder(const std::string& folder, const Progress& progress = {});

  /// Adds images of the classes to come whose class nobody has said, from which it learns how images of a class differ;
  /// returns how many it did not hold already. Throws UsageError where its method was fitted and stays as it is, Error
  /// for an image that cannot be read and where it would hold more than 5,000.
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
  /// Takes the last change of the file back and says which it was. Throws Error where there is none.
  std::string undo();
  /// Does again what the last undo() took back and says which change it was. Throws Error where there is none: a new
  /// change ends what can be done again.
  std::string redo();

  /// Makes "none of these" known: images are of none of the classes below a familiarity that at most `false_accept` of
  /// strangers reach; without a rate as many strangers reach it as own images do not. `others`: images of none of the
  /// classes; empty: each class in turn is taken for a stranger. Kept in the file. Throws Error where there are too few
  /// images, UsageError for a rate outside (0, 1).
  Calibration calibrate(const std::vector<Image>& others = {}, std::optional<double> false_accept = {},
                        const Progress& progress = {});
  /// The one that answers follow; nothing where there is none.
  [[nodiscard]] std::optional<Calibration> calibration() const;

  /// What it classifies with. Throws Error as classify().
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
