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

/// The type in which features are stored: float16 takes half the space and rounds them.
enum class FeatureType { kFloat32, kFloat16 };

/// Returns "float32" or "float16", as in files.
std::string_view to_string(FeatureType type);

/// The permanent settings of a recognizer.
struct RecognizerSettings {
  Preprocessing preprocessing;                         ///< of every image
  int64_t feature_dim = 0;                             ///< d
  int64_t embedding_dim = 0;                           ///< e, dimension of the classes' embeddings; 0: they have none
  FeatureType feature_type = FeatureType::kFloat32;    ///< for the examples in the file
  int64_t thumbnail_side = 96;                         ///< pixels; 0: no image is kept, only features
  bool moments = true;                                 ///< whether photos of one moment are detected and count as one
  std::map<std::string, int64_t> stated_moments = {};  ///< hash of a photo -> its moment, if it was stated
  std::vector<std::string> attributes = {};            ///< [a], the attributes of the model or the method
  std::map<std::string, std::string> words = {};       ///< attribute -> display name, if different

  /// Returns the display name of an attribute.
  [[nodiscard]] std::string word_for(const std::string& attribute) const;
};

/// A file that a recognizer depends on. Its name is "backbone", "model", "fitted" or "knowledge".
struct RecognizerArtefact {
  std::string name;
  std::filesystem::path path;  ///< its original path; read from there if it is not embedded
  std::string hash = {};       ///< hash_file of the file
  bool embedded = true;        ///< whether its bytes are stored in the recognizer
  int64_t size = 0;            ///< bytes; 0 if it is not embedded
};

/// Returns the substitute for an image's hash if only its feature is known, float32 [d].
std::string hash_of_feature(const Array& feature);

/// Most unlabelled images of a recognizer. Learning from them takes a decomposition of d x d for each of several parts
/// of the images, and more hardly improve accuracy.
inline constexpr int64_t kMostUnlabelled = 5000;

/// Images of one class, or unlabelled ones, as features.
struct NewExamples {
  Array features;                                 ///< float32 [n, d]
  std::vector<std::string> hashes;                ///< [n], hash_file of each image, or hash_of_feature
  std::vector<std::string> sources = {};          ///< [n], origin of each; empty: unknown
  std::vector<std::string> thumbnails = {};       ///< [n], JPEG; empty: none
  std::vector<int64_t> times = {};                ///< [n], when each was enrolled, seconds since 1970; empty: now
  std::vector<std::optional<double>> taken = {};  ///< [n], capture_time() of each; empty: unknown
};

/// Makes examples known only by their features, float32 [n, d]; `source` is their origin.
NewExamples examples_of_features(const Array& features, const std::string& source = {});

/// Collects such examples in parts.
class ExamplesInParts {
 public:
  void add(NewExamples more);
  /// Returns all of them in that order; without any, features are undefined.
  [[nodiscard]] NewExamples joined() &&;

 private:
  std::vector<Array> features_;  // [n, d] of each part
  NewExamples rest_;             // all parts, without features
};

/// Whether a description also applies to an existing class.
enum class Describe { kNewClass, kAnyClass };

/// A class to add, or images or a description to add to one.
struct ClassEnrolment {
  std::string name;
  std::optional<ClassDescription> description = {};  ///< required for a new class
  Describe describe = Describe::kNewClass;
  NewExamples examples = {};  ///< features may be undefined: none
};

/// The example that a row of features belongs to.
struct KeptExample {
  int64_t id = 0;
  std::string source;           ///< its origin
  std::optional<double> taken;  ///< its capture_time()
};

/// A revision of a snapshot, and the ids of the classes that were reread to reach it.
struct SnapshotStep {
  int64_t revision = 0;
  std::vector<int64_t> classes = {};
};

/// All classes of a recognizer at one moment.
struct RecognizerSnapshot {
  int64_t revision = 0;  ///< see RecognizerFile::revision
  EnrolledClasses enrolled;
  std::vector<int64_t> class_ids = {};                  ///< [classes], ascending
  std::vector<std::vector<KeptExample>> examples = {};  ///< [classes][images], of StoredClass::features
  std::vector<double> feature_sum = {};                 ///< [d], over all examples
  int64_t feature_count = 0;                            ///< examples
  std::optional<nlohmann::json> calibration = {};       ///< as last passed to set_calibration()
  std::vector<SnapshotStep> steps = {};                 ///< history of the snapshot, for RecognizerFile::refresh
};

/// A photo that a recognizer has, or had before it was removed; if it is in several classes, only once.
struct HeldPhoto {
  std::string hash;        ///< hash_file of the photo, or hash_of_feature
  std::string source;      ///< its origin
  std::string class_name;  ///< empty: unlabelled, or removed
  bool is_live = false;    ///< not removed
};

/// Hash of a photo -> its feature, float32 [d].
using FeaturesByHash = std::map<std::string, Array>;

/// All contents of a recognizer besides its artefacts, at one moment and as stored in the file.
struct RecognizerContents {
  std::vector<StoredClass> classes;                ///< without features
  std::vector<ExampleInfo> examples;               ///< [m], class by class
  Array features = {};                             ///< float32 [m, d], of the examples
  std::vector<std::string> thumbnails = {};        ///< [m], JPEG; empty if none was kept
  std::optional<nlohmann::json> calibration = {};  ///< as last passed to set_calibration()
  NewExamples unlabelled = {};                     ///< unlabelled images
};

/// Ids of a recognizer's photos.
struct PhotoIds {
  std::vector<int64_t> examples = {};    ///< ExampleInfo::id of enrolled photos
  std::vector<int64_t> unlabelled = {};  ///< ExampleInfo::id of unlabelled photos
};

/// A change of the file that can be undone, or was.
struct ChangeEntry {
  int64_t id = 0;
  std::string what;  ///< "rename class 'a' to 'b'"
  int64_t time = 0;
};

/// The file of a recognizer (docs/formats.md, "recognizer"): everything needed to classify images, and the classes
/// enrolled so far. Every change is one transaction whose cost depends on the change, not on the file's size; several
/// processes may change it concurrently, one waiting for the other. The file is untrusted input. Not thread-safe.
class RecognizerFile {
 public:
  /// Creates a recognizer without classes; it appears at `path` when it is complete. Throws Error, also if a file
  /// exists there that is not empty.
  static void create(const std::filesystem::path& path, const RecognizerSettings& settings,
                     const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance);

  /// Opens an existing file. `patience`: how long a call waits for another process that changes the file before it
  /// throws DatabaseError. Throws Error for another kind of file, a newer format, or a damaged file; for reading, also
  /// if an interrupted change must be rolled back first.
  explicit RecognizerFile(const std::filesystem::path& path, FileUse use = FileUse::kChange,
                          std::chrono::seconds patience = std::chrono::seconds(60));
  ~RecognizerFile();
  RecognizerFile(RecognizerFile&&) noexcept;
  RecognizerFile& operator=(RecognizerFile&&) noexcept;

  [[nodiscard]] const std::filesystem::path& path() const;
  /// For callers that keep the file open for long: checks whether the opened file is still at its path, and if not
  /// opens the one that is there now. Returns whether it did: earlier snapshots are then invalid. Throws DatabaseError
  /// kReplaced if there is no recognizer with the same header, attributes and artefacts, until there is one again.
  bool follow();
  /// Returns the whole file, as of the last change, as bytes, for copying. In memory.
  [[nodiscard]] std::string serialized() const;
  /// Returns the number of these bytes without reading them.
  [[nodiscard]] int64_t serialized_size() const;
  /// Whether the path leads to the open file. Costs one look-up in the folder.
  [[nodiscard]] bool is_at_path() const;
  [[nodiscard]] const ArtefactHeader& header() const { return header_; }
  [[nodiscard]] const RecognizerSettings& settings() const { return settings_; }
  /// Returns the settings stated by a recognizer's header, with the attributes stored beside it. Throws Error that
  /// names `where`.
  static RecognizerSettings settings_of(const ArtefactHeader& header, std::vector<std::string> attributes,
                                        const std::string& where);

  [[nodiscard]] const std::vector<RecognizerArtefact>& artefacts() const { return artefacts_; }
  /// nullptr if there is none of that name.
  [[nodiscard]] const RecognizerArtefact* artefact(const std::string& name) const;
  /// Calls `read` with a path where the artefact can be read. One that is not embedded is looked for beside the
  /// recognizer, then at its original path. Throws Error if it is missing or has changed, and what `read` throws, with
  /// the recognizer's name.
  void read_artefact(const std::string& name, const std::function<void(const std::filesystem::path&)>& read) const;

  /// Equal numbers mean equal classes and examples, and an equal calibration unless that was set with the last change
  /// or for good.
  [[nodiscard]] int64_t revision() const;
  /// Returns a hash of the file's history up to a revision: it differs after an undo or after compacting.
  [[nodiscard]] std::string history(int64_t revision) const;
  /// Reads all classes with their features.
  [[nodiscard]] RecognizerSnapshot snapshot() const;
  /// Reads everything in one view: a concurrent enrolment is either in all of it or in none.
  [[nodiscard]] RecognizerContents contents() const;
  /// Updates a snapshot of this file to what snapshot() returns now, by rereading the classes that have changed since,
  /// (for a class that only gained images, only those images); all classes if the changes are unknown (an empty
  /// snapshot, `compact`). Returns for each class its index in the previous snapshot, -1 if it was read. If it throws,
  /// the snapshot is empty.
  std::vector<int64_t> refresh(RecognizerSnapshot& snapshot) const;
  /// Sets the moments that the settings state for a snapshot's images (StoredClass::moments) and the times of these
  /// (StoredClass::taken), as snapshot() and refresh() do.
  void state_moments(RecognizerSnapshot& snapshot) const;
  [[nodiscard]] std::vector<ClassInfo> list_classes() const;
  /// Names of classes, here and below, may be written in any form that checked_class_name normalises; UsageError for an
  /// invalid name.
  [[nodiscard]] bool has_class(const std::string& name) const;
  /// Returns nothing if there is no such class.
  [[nodiscard]] std::optional<ClassInfo> find_class(const std::string& name) const;
  /// Lists the examples of a class, or of all classes for an empty name. Throws Error for an unknown class.
  [[nodiscard]] std::vector<ExampleInfo> list_examples(const std::string& class_name) const;
  /// Returns the ids of the confirmed examples, ascending.
  [[nodiscard]] std::vector<int64_t> confirmed_examples() const;
  /// Returns the example with an id. Throws Error if there is none.
  [[nodiscard]] ExampleInfo example(int64_t id) const;
  /// Returns a JPEG, or nothing if none was kept. Throws Error if there is no such example.
  [[nodiscard]] std::string thumbnail(int64_t example) const;
  /// Lists the unlabelled images, in the order in which they were added.
  [[nodiscard]] std::vector<ExampleInfo> list_unlabelled() const;
  /// Returns their number.
  [[nodiscard]] int64_t count_unlabelled() const;
  /// Returns a JPEG of an unlabelled image, or nothing if none was kept. Throws Error if the image does not exist.
  [[nodiscard]] std::string unlabelled_thumbnail(int64_t id) const;
  /// Returns the value last passed to set_calibration(); nothing before.
  [[nodiscard]] std::optional<nlohmann::json> calibration() const;
  /// Lists at most this many of the changes that undo() can revert, last first.
  [[nodiscard]] std::vector<ChangeEntry> changes(int64_t most = 1000) const;
  /// Lists at most this many of the changes that redo() can repeat, in its order.
  [[nodiscard]] std::vector<ChangeEntry> undone(int64_t most = 1000) const;

  /// The change made by this object's last call of the functions below; nothing before, and if it changed nothing.
  /// Unlike changes() it is never another process's.
  [[nodiscard]] const std::optional<ChangeEntry>& last_made() const { return last_made_; }

  /// Adds classes, and images to classes; an image that its class already has does not count twice. All or nothing.
  /// Throws Error for a new class without a description, and for descriptions and features that do not match or are not
  /// finite.
  std::vector<EnrolledClass> enrol(const std::vector<ClassEnrolment>& enrolments);
  /// Throws Error for an unknown class or a name that is taken.
  void rename_class(const std::string& name, const std::string& new_name);
  /// Throws Error for an unknown class.
  void remove_class(const std::string& name);
  /// Moves a class's images to another class and removes it, as one change. Returns how many were new to the other
  /// class; these get new ids. The other class keeps its own description. Throws Error for an unknown class, and if
  /// both are the same.
  int64_t merge_class(const std::string& name, const std::string& into);
  /// Throws Error if one does not exist; nothing is removed then.
  void remove_examples(const std::vector<int64_t>& ids);
  /// Moves images to another class, as one change. Returns how many were new to it; these get new ids. Throws Error for
  /// an unknown class or example, and for an example that is in that class; nothing is moved then.
  int64_t move_examples(const std::vector<int64_t>& ids, const std::string& into);
  /// Moves unlabelled images too, which become examples of the class; a class that does not exist is added, as by
  /// enrol(). Throws Error as both, and if an unlabelled image does not exist; nothing is moved then.
  EnrolledClass place(const PhotoIds& photos, const ClassEnrolment& into);
  /// Removes photos of both kinds, as one change. Throws Error if one does not exist; nothing is removed then.
  void remove(const PhotoIds& photos);
  /// Records that images are in their right class, as one change, so that they are no longer reported as misplaced
  /// (ExampleInfo::confirmed); moving an image ends that. Returns the number of newly confirmed images. Throws
  /// Error if one does not exist; nothing is recorded then.
  int64_t confirm_examples(const std::vector<int64_t>& ids);
  /// Adds unlabelled images; one that exists already does not count twice. Returns how many were added. Throws Error
  /// for features that do not match or are not finite, and if there would be more than kMostUnlabelled.
  int64_t add_unlabelled(const NewExamples& images);
  /// Throws Error if one does not exist; nothing is removed then.
  void remove_unlabelled(const std::vector<int64_t>& ids);
  /// Removes all unlabelled images, as one change; returns how many there were.
  int64_t remove_all_unlabelled();
  void set_calibration(const nlohmann::json& calibration);
  /// Sets the calibration as part of the last change, with which it is undone; processes that have the file open do not
  /// notice it. Without a change (after compacting) it is a change of its own.
  void set_calibration_with_last_change(const nlohmann::json& calibration);
  /// Sets the calibration as part of no change: undo() of earlier changes keeps it.
  void set_calibration_for_good(const nlohmann::json& calibration);
  /// Undoes the last change: restores the previous content. It can be redone until there is a new change, which deletes
  /// it for good. Throws Error if there is none, or the last one is not `only`.
  ChangeEntry undo(std::optional<int64_t> only = {});
  /// Redoes what the last undo() reverted, with the same numbers of changes, classes and examples. Throws Error if
  /// there is none, or the next one is not `only`.
  ChangeEntry redo(std::optional<int64_t> only = {});
  /// Deletes removed content and the information for undo and redo, and releases the space.
  void compact();

  /// Lists every photo once, those not removed first.
  [[nodiscard]] std::vector<HeldPhoto> list_photos() const;
  /// Writes a copy of this recognizer for another encoder to `path`, which may be its own: with other settings and
  /// artefacts, and another feature for each photo. Classes, titles, thumbnails, times and the history stay.
  /// Calibrations are dropped, and so are photos that only the history has and `features` lacks. Throws
  /// Error if the recognizer has a photo without a feature, and if descriptions of classes differ in size from
  /// `settings`.
  void write_renewed(const std::filesystem::path& path, const RecognizerSettings& settings,
                     const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance,
                     const FeaturesByHash& features) const;

  /// Returns what is wrong with the file, in sentences; empty: nothing. Reads all of it.
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
    int64_t newest_change = 0;                       ///< the highest number that a change has had; it never decreases
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
