#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "images/preprocessing.h"
#include "io/artefact.h"
#include "protocom/enrolment.h"
#include "protocom/recognizer_options.h"
#include "store/enrolled_classes.h"

namespace protocom {

class Database;
class Statement;

/// In what numbers features are kept: float16 takes half the room and rounds them.
enum class FeatureType { kFloat32, kFloat16 };

/// "float32" or "float16", as files have it.
std::string_view to_string(FeatureType type);

/// What a recognizer is made with and keeps for its life.
struct RecognizerSettings {
  Preprocessing preprocessing;                         ///< of every image
  int64_t feature_dim = 0;                             ///< d
  int64_t embedding_dim = 0;                           ///< e, of the classes' embeddings; 0: they have none
  FeatureType feature_type = FeatureType::kFloat32;    ///< of the examples in the file
  int64_t thumbnail_side = 96;                         ///< pixels; 0: no image is kept, only features
  bool moments = true;                                 ///< whether photos of one moment are looked for and count as one
  std::map<std::string, int64_t> stated_moments = {};  ///< hash of a photo -> its moment, where a table named it
  std::vector<std::string> attributes = {};            ///< [a], those of the model or the method
  std::map<std::string, std::string> words = {};  ///< attribute -> what people call it, where that is something else

  /// What people call an attribute.
  [[nodiscard]] std::string word_for(const std::string& attribute) const;
};

/// A file that recognizing needs. Its name is "backbone", "model", "fitted" or "knowledge".
struct RecognizerArtefact {
  std::string name;
  std::filesystem::path path;  ///< where it was; read from there when it is not in the recognizer
  std::string hash = {};       ///< hash_file of it
  bool embedded = true;        ///< whether its bytes lie in the recognizer
  int64_t size = 0;            ///< bytes; 0 when it is not embedded
};

/// The substitute for an image's hash if only its feature is known, float32 [d].
std::string hash_of_feature(const Array& feature);

/// Of a recognizer. Learning takes a decomposition of d x d for each of several parts of the images: more of them
/// hardly gain.
inline constexpr int64_t kMostUnlabelled = 5000;

/// Images of one class, or unlabelled ones, as features.
struct NewExamples {
  Array features;                                 ///< float32 [n, d]
  std::vector<std::string> hashes;                ///< [n], hash_file of each image, or hash_of_feature
  std::vector<std::string> sources = {};          ///< [n], where each came from; empty: unknown
  std::vector<std::string> thumbnails = {};       ///< [n], JPEG; empty: none
  std::vector<int64_t> times = {};                ///< [n], of their enrolment, seconds since 1970; empty: now
  std::vector<std::optional<double>> taken = {};  ///< [n], capture_time() of each; empty: unknown
};

/// Images known only by these features, float32 [n, d]; they came from `source`.
NewExamples examples_of_features(const Array& features, const std::string& source = {});

/// Such images that come in parts.
class ExamplesInParts {
 public:
  void add(NewExamples more);
  /// All of them in that order; without any, features are undefined.
  [[nodiscard]] NewExamples joined() &&;

 private:
  std::vector<Array> features_;  // [n, d] of each part
  NewExamples rest_;             // of all parts, without features
};

/// Whether a description is also for a class that is already there.
enum class Describe { kNewClass, kAnyClass };

/// A class to add, or additions to one.
struct ClassEnrolment {
  std::string name;
  std::optional<ClassDescription> description = {};  ///< a class that is not there yet needs one
  Describe describe = Describe::kNewClass;
  NewExamples examples = {};  ///< features may be undefined: none
};

/// Which example a row of features is.
struct KeptExample {
  int64_t id = 0;
  std::string source;           ///< where it came from
  std::optional<double> taken;  ///< its capture_time()
};

/// A revision that a snapshot has had, and the ids of the classes that were read again to come to it.
struct SnapshotStep {
  int64_t revision = 0;
  std::vector<int64_t> classes = {};
};

/// All of a recognizer's classes as they were at one moment.
struct RecognizerSnapshot {
  int64_t revision = 0;  ///< see RecognizerFile::revision
  EnrolledClasses enrolled;
  std::vector<int64_t> class_ids = {};                  ///< [classes], ascending
  std::vector<std::vector<KeptExample>> examples = {};  ///< [classes][images], of StoredClass::features
  std::vector<double> feature_sum = {};                 ///< [d], over all examples
  int64_t feature_count = 0;                            ///< examples
  std::optional<nlohmann::json> calibration = {};       ///< what set_calibration() was given last
  std::vector<SnapshotStep> steps = {};                 ///< how it came to be, for RecognizerFile::refresh
};

/// A photo that a recognizer holds, or held before it was removed; of one that several classes hold, one of them.
struct HeldPhoto {
  std::string hash;        ///< hash_file of it, or hash_of_feature
  std::string source;      ///< where it came from
  std::string class_name;  ///< empty: unlabelled, or removed
  bool is_live = false;    ///< not removed
};

/// Hash of a photo -> its feature, float32 [d].
using FeaturesByHash = std::map<std::string, Array>;

/// All that a recognizer holds besides its artefacts, at one moment and as it lies in the file.
struct RecognizerContents {
  std::vector<StoredClass> classes;                ///< without features
  std::vector<ExampleInfo> examples;               ///< [m], of one class after the other
  Array features = {};                             ///< float32 [m, d], of the examples
  std::vector<std::string> thumbnails = {};        ///< [m], JPEG; empty if none was kept
  std::optional<nlohmann::json> calibration = {};  ///< what set_calibration() was given last
  NewExamples unlabelled = {};                     ///< unlabelled images
};

/// Photos that a recognizer holds, by their ids.
struct PhotoIds {
  std::vector<int64_t> examples = {};    ///< ExampleInfo::id of enrolled ones
  std::vector<int64_t> unlabelled = {};  ///< the same of unlabelled ones
};

/// A change of the file that can be undone, or was.
struct ChangeEntry {
  int64_t id = 0;
  std::string what;  ///< "rename class 'a' to 'b'"
  int64_t time = 0;
};

/// The file of a recognizer (docs/formats.md, "recognizer"): all that leads from an image to an answer, and the classes
/// enrolled so far. Everything that changes it is one transaction that costs as much as the change, whatever the file
/// holds; several processes may do so at once, each waits for the other. The file is untrusted input. Not thread-safe.
class RecognizerFile {
 public:
  /// Makes one without classes; it appears at `path` when it is complete. Throws Error, also when a file that
  /// is not empty is there.
  static void create(const std::filesystem::path& path, const RecognizerSettings& settings,
                     const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance);

  /// Opens an existing one. `patience`: how long a call waits for another process that changes the file before it
  /// throws DatabaseError. Throws Error for another file, a newer format, or a damaged one; to read, where an
  /// interrupted change must be rolled back first.
  explicit RecognizerFile(const std::filesystem::path& path, FileUse use = FileUse::kChange,
                          std::chrono::seconds patience = std::chrono::seconds(60));
  ~RecognizerFile();
  RecognizerFile(RecognizerFile&&) noexcept;
  RecognizerFile& operator=(RecognizerFile&&) noexcept;

  [[nodiscard]] const std::filesystem::path& path() const;
  /// For callers that keep it open for long: looks whether what was opened still lies at its path, and opens what lies
  /// there now where it does not. Returns whether it did: no snapshot from before is of use then. Throws DatabaseError
  /// kReplaced if there is no recognizer with the same header, attributes and artefacts, until there is one again.
  bool follow();
  /// All of it, as of the last change, as the bytes of a file, for copying. In memory.
  [[nodiscard]] std::string serialized() const;
  /// How many bytes that are, without reading them.
  [[nodiscard]] int64_t serialized_size() const;
  /// Whether the path leads to the file that is open. Takes one look at the folder.
  [[nodiscard]] bool is_at_path() const;
  [[nodiscard]] const ArtefactHeader& header() const { return header_; }
  [[nodiscard]] const RecognizerSettings& settings() const { return settings_; }
  /// Those that a recognizer's header states, with the attributes that lie beside it. Throws Error that names `where`.
  static RecognizerSettings settings_of(const ArtefactHeader& header, std::vector<std::string> attributes,
                                        const std::string& where);

  [[nodiscard]] const std::vector<RecognizerArtefact>& artefacts() const { return artefacts_; }
  /// nullptr when there is none of that name.
  [[nodiscard]] const RecognizerArtefact* artefact(const std::string& name) const;
  /// Runs `read` on a path where the artefact can be read. One that is not embedded is looked for where it was, then
  /// beside the recognizer. Throws Error when it is not there or another than it was, and what `read` throws, with the
  /// recognizer's name.
  void read_artefact(const std::string& name, const std::function<void(const std::filesystem::path&)>& read) const;

  /// The same number: the same classes, examples and calibration.
  [[nodiscard]] int64_t revision() const;
  /// A hash of how the file came to be what it was at a revision: another one where it has been undone or forgotten.
  [[nodiscard]] std::string history(int64_t revision) const;
  /// All classes with their features.
  [[nodiscard]] RecognizerSnapshot snapshot() const;
  /// Everything, in one view: what others enrol meanwhile is in all of it or in nothing.
  [[nodiscard]] RecognizerContents contents() const;
  /// Makes a snapshot of this file what snapshot() gives now, by reading the classes that have changed since, and of
  /// one that only got images those alone; all of them where it cannot tell which (an empty snapshot, `compact`).
  /// Returns for each class where it stood in the snapshot before, -1 if it was read. What it throws leaves the
  /// snapshot empty.
  std::vector<int64_t> refresh(RecognizerSnapshot& snapshot) const;
  /// Gives the classes of a snapshot the moments that the settings state of their images (StoredClass::moments) and the
  /// times of these (StoredClass::taken), as snapshot() and refresh() do.
  void state_moments(RecognizerSnapshot& snapshot) const;
  [[nodiscard]] std::vector<ClassInfo> list_classes() const;
  /// Names of classes, here and below, are those of checked_class_name, however they are written; UsageError for what
  /// is none.
  [[nodiscard]] bool has_class(const std::string& name) const;
  /// nothing when there is no such class.
  [[nodiscard]] std::optional<ClassInfo> find_class(const std::string& name) const;
  /// Of one class, or of all for an empty name. Throws Error for an unknown class.
  [[nodiscard]] std::vector<ExampleInfo> list_examples(const std::string& class_name) const;
  /// Ids of those that are confirmed, ascending.
  [[nodiscard]] std::vector<int64_t> confirmed_examples() const;
  /// The example of an id. Throws Error when there is none.
  [[nodiscard]] ExampleInfo example(int64_t id) const;
  /// A JPEG, or nothing if none was kept. Throws Error when there is no such example.
  [[nodiscard]] std::string thumbnail(int64_t example) const;
  /// Unlabelled images, in the order in which they came.
  [[nodiscard]] std::vector<ExampleInfo> list_unlabelled() const;
  /// How many those are.
  [[nodiscard]] int64_t count_unlabelled() const;
  /// A JPEG of one of them, or nothing if none was kept. Throws Error when it is not there.
  [[nodiscard]] std::string unlabelled_thumbnail(int64_t id) const;
  /// What set_calibration() was given last; nothing before.
  [[nodiscard]] std::optional<nlohmann::json> calibration() const;
  /// At most this many of the changes that undo() can revert, last first.
  [[nodiscard]] std::vector<ChangeEntry> changes(int64_t most = 1000) const;
  /// At most this many of the changes that redo() can repeat, in its order.
  [[nodiscard]] std::vector<ChangeEntry> undone(int64_t most = 1000) const;

  /// The change that this object's last call of those below made; nothing before, and where it changed nothing. Unlike
  /// changes() it is never another process's.
  [[nodiscard]] const std::optional<ChangeEntry>& last_made() const { return last_made_; }

  /// Adds classes, and images to classes; an image that its class holds already does not count twice. All or nothing.
  /// Throws Error for a new class without a description, and for descriptions and features that do not fit or are not
  /// finite.
  std::vector<EnrolledClass> enrol(const std::vector<ClassEnrolment>& enrolments);
  /// Throws Error for an unknown class or a name that is taken.
  void rename_class(const std::string& name, const std::string& new_name);
  /// Throws Error for an unknown class.
  void remove_class(const std::string& name);
  /// Moves a class's images to another class and removes it, as one change. Returns how many the other one did not hold
  /// already; those have other ids then. It keeps its own description. Throws Error for an unknown class, and for one
  /// and the same.
  int64_t merge_class(const std::string& name, const std::string& into);
  /// Throws Error when one is not there; then all stay.
  void remove_examples(const std::vector<int64_t>& ids);
  /// Moves images to another class, as one change. Returns how many it did not hold already; those have other ids then.
  /// Throws Error for an unknown class or example, and for an example that is in that class; then all stay.
  int64_t move_examples(const std::vector<int64_t>& ids, const std::string& into);
  /// The same for unlabelled images too, which become examples of the class; a class that is not there yet is added, as
  /// by enrol(). Throws Error as both, and when an unlabelled one is not there; then all stay.
  EnrolledClass place(const PhotoIds& photos, const ClassEnrolment& into);
  /// Removes both kinds, as one change. Throws Error when one is not there; then all stay.
  void remove(const PhotoIds& photos);
  /// Keeps that images are in their right class, so that they are no longer named as misplaced
  /// (ExampleInfo::confirmed), as one change; one that is moved is no longer confirmed. Throws Error when one is not
  /// there; then nothing is kept.
  void confirm_examples(const std::vector<int64_t>& ids);
  /// Adds unlabelled images; one that is there already does not count twice. Returns how many were
  /// added. Throws Error for features that do not fit or are not finite, and where there would be more than
  /// kMostUnlabelled.
  int64_t add_unlabelled(const NewExamples& images);
  /// Throws Error when one is not there; then all stay.
  void remove_unlabelled(const std::vector<int64_t>& ids);
  /// Removes all of them, as one change; returns how many there were.
  int64_t remove_all_unlabelled();
  void set_calibration(const nlohmann::json& calibration);
  /// The same as part of the last change, with which it is taken back; those who have the file open do not notice it.
  /// Throws Error if there is no change.
  void set_calibration_with_last_change(const nlohmann::json& calibration);
  /// The same as part of no change: undo() of what was changed before leaves it.
  void set_calibration_for_good(const nlohmann::json& calibration);
  /// Takes the last change back: the file holds what it held before. What is taken back can be done again until there
  /// is a new change, which deletes it for good. Throws Error when there is none, or the last one is not `only`.
  ChangeEntry undo(std::optional<int64_t> only = {});
  /// Does again what the last undo() took back, with the same numbers of changes, classes and examples. Throws Error
  /// when there is none, or the next one is not `only`.
  ChangeEntry redo(std::optional<int64_t> only = {});
  /// Forgets what was removed, and how to undo and redo, and gives the room back.
  void compact();

  /// Every photo once, those first that are not removed.
  [[nodiscard]] std::vector<HeldPhoto> list_photos() const;
  /// Writes a copy of this recognizer for another encoder to `path`, which may be its own: other settings and
  /// artefacts, and of each photo another feature. Classes, titles, thumbnails, times and the history stay.
  /// Calibrations go, and so do photos without a feature in `features` that only the history has. Throws Error if
  /// the recognizer holds a photo without a feature, and where descriptions of classes have other sizes than `settings`
  /// says.
  void write_renewed(const std::filesystem::path& path, const RecognizerSettings& settings,
                     const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance,
                     const FeaturesByHash& features) const;

  /// What is wrong with the file, in sentences; empty: nothing. Reads all of it.
  [[nodiscard]] std::vector<std::string> check() const;

 private:
  [[nodiscard]] std::vector<std::string> class_names() const;
  [[nodiscard]] int64_t class_id(const std::string& name) const;
  [[nodiscard]] ClassInfo entry_at(const Statement& row) const;

  /// Identifies a file, in case another one is put at its path later.
  struct Identity {
    uint64_t device = 0, inode = 0;
    int64_t size = 0, seconds = 0, nanoseconds = 0;  ///< of its last change
    std::string header;                              ///< its text
    int64_t newest_change = 0;                       ///< the highest number that a change has had; it never falls
  };
  static Identity place_of(const std::filesystem::path& path);
  static void read_identity(const Database& database, Identity& to);
  bool is_as_opened();

  FileUse use_;
  std::chrono::seconds patience_;
  Identity identity_;
  std::unique_ptr<Database> database_;
  ArtefactHeader header_;
  RecognizerSettings settings_;
  std::vector<RecognizerArtefact> artefacts_;
  std::optional<ChangeEntry> last_made_;
};

}  // namespace protocom
