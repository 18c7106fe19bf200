#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/feature_values.h"
#include "base/json_text.h"
#include "io/files.h"
#include "store/detail/change.h"
#include "store/detail/class_query.h"
#include "store/detail/database.h"
#include "store/detail/schema.h"
#include "store/detail/stored_array.h"
#include "store/detail/unlabelled.h"
#include "store/recognizer_file.h"

namespace protocom {
namespace {

void check_vector(const Array& vector, int64_t size, const char* what, const std::string& name) {
  if (!vector.defined() || vector.dim() != 1 || vector.size(0) != size)
    fail("class '{}': expected an {} of {} numbers", name, what, size);
  if (!is_finite(vector)) fail("class '{}': an {} that is not finite", name, what);
}

void check_description(const RecognizerSettings& settings, const std::string& name, const ClassDescription& stated) {
  check_vector(stated.association, static_cast<int64_t>(settings.attributes.size()), "association", name);
  if (!is_share(stated.association)) fail("class '{}': an association outside 0 to 1", name);
  check_vector(stated.embedding, settings.embedding_dim, "embedding", name);
}

void add_name(const Database& database, const Change& change, int64_t id, const std::string& written) {
  const std::string name = checked_new_class_name(written);
  database.prepare("INSERT INTO names(class, name, added_by) VALUES(?, ?, ?)", id, name, change.id()).run();
}

int64_t add_class(const Database& database, const Change& change, const std::string& name) {
  database.prepare("INSERT INTO classes(time, added_by) VALUES(?, ?)", seconds_now(), change.id()).run();
  const int64_t id = database.last_row();
  add_name(database, change, id, name);
  return id;
}

void describe(const Database& database, const Change& change, int64_t id, const ClassDescription& stated) {
  change.remove("descriptions", "class", id);
  database
      .prepare(
          "INSERT INTO descriptions(class, title, association, embedding, source, added_by) VALUES(?, ?, ?, ?, ?, ?)",
          id, stated.title)
      .bind_blob(to_blob(stated.association, NumberType::kFloat32))
      .bind_blob(to_blob(stated.embedding, NumberType::kFloat32))
      .bind(stated.embedding_source)
      .bind(change.id())
      .run();
}

/// Adds the images that the class does not have yet; returns their number.
int64_t add_examples(const Database& database, const Change& change, int64_t id, const NewExamples& examples,
                     NumberType type) {
  Statement insert_example = database.prepare(
      "INSERT OR IGNORE INTO examples(class, hash, feature, time, source, taken, added_by) VALUES(?, ?, ?, ?, ?, ?, "
      "?)");
  Statement insert_thumbnail = database.prepare("INSERT INTO thumbnails(example, jpeg, added_by) VALUES(?, ?, ?)");
  int64_t added = 0;
  for (size_t i = 0; i < examples.hashes.size(); ++i) {
    insert_example.bind(id).bind(examples.hashes[i]);
    insert_example.bind_blob(to_blob(examples.features.row(static_cast<int64_t>(i)), type));
    insert_example.bind(examples.times.empty() ? seconds_now() : examples.times[i]);
    insert_example.bind(examples.sources.empty() ? std::string() : examples.sources[i]);
    insert_example.bind(examples.taken.empty() ? std::nullopt : examples.taken[i]).bind(change.id()).run();
    if (database.rows_changed() == 0) continue;
    ++added;
    if (examples.thumbnails.empty() || examples.thumbnails[i].empty()) continue;
    insert_thumbnail.bind(database.last_row()).bind_blob(examples.thumbnails[i]).bind(change.id()).run();
  }
  return added;
}

bool describes_anew(const ClassEnrolment& enrolment) {
  return enrolment.description && enrolment.describe == Describe::kAnyClass;
}

/// Returns whether anything was changed.
bool enrol_one(const Database& database, const Change& change, const RecognizerSettings& settings,
               const ClassEnrolment& enrolment, EnrolledClass& done) {
  std::optional<int64_t> id = live_class(database, enrolment.name);
  done.is_new = !id;
  if (!id && !enrolment.description)
    fail("{} has no class '{}': a new class needs a description", database.path().string(), enrolment.name);
  if (!id) id = add_class(database, change, enrolment.name);
  const bool describes = done.is_new || describes_anew(enrolment);
  if (describes) describe(database, change, *id, *enrolment.description);
  done.added = add_examples(database, change, *id, enrolment.examples, type_of(settings));
  done.held = static_cast<int64_t>(enrolment.examples.hashes.size()) - done.added;
  return describes || done.added > 0;
}

/// Tables with rows that belong to examples.
constexpr const char* kOfExamples[] = {"thumbnails", "confirmations"};

void remove_live_class(const Database& database, const Change& change, int64_t id) {
  for (const char* table : kOfExamples) {
    database
        .prepare(fmt::format("UPDATE {} SET removed_by = ? WHERE removed_by IS NULL AND example IN "
                             "(SELECT id FROM examples WHERE class = ? AND removed_by IS NULL)",
                             table),
                 change.id(), id)
        .run();
  }
  for (const char* table : {"names", "descriptions", "examples"}) change.remove(table, "class", id);
  change.remove("classes", "id", id);
}

void replace_calibration(const Database& database, const nlohmann::json& calibration, int64_t change) {
  database.prepare("UPDATE calibrations SET removed_by = ? WHERE removed_by IS NULL", change).run();
  database.prepare("INSERT INTO calibrations(json, added_by) VALUES(?, ?)", json_text(calibration), change).run();
}

/// Returns a class that an edit has just changed.
ClassInfo whole_class(const RecognizerFile& file, const std::string& name) {
  if (std::optional<ClassInfo> found = file.find_class(name)) return *std::move(found);
  throw DatabaseError(DatabaseFault::kDamaged,
                      fmt::format("{}: the file is damaged: class '{}' has no description (protocom recognizer check)",
                                  file.path().string(), excerpt(name)));
}

std::vector<int64_t> examples_of_class(const Database& database, int64_t id) {
  std::vector<int64_t> ids;
  Statement rows = database.prepare("SELECT id FROM examples WHERE class = ? AND removed_by IS NULL ORDER BY id", id);
  while (rows.step()) ids.push_back(rows.number(0));
  return ids;
}

/// The source of photos that become examples of a class.
struct PhotoSource {
  const char* table;
  const char* thumbnail;  // selects [example, jpeg, change] for a photo
};
constexpr PhotoSource kExamplePhotos = {"examples",
                                        "SELECT ?, jpeg, ? FROM thumbnails WHERE example = ? AND removed_by IS NULL"};
constexpr PhotoSource kUnlabelledPhotos = {"unlabelled",
                                           "SELECT ?, jpeg, ? FROM unlabelled WHERE id = ? AND length(jpeg) > 0"};

/// Copies photos into a class, except those that it has; returns how many were added.
int64_t copy_photos(const Database& database, const Change& change, const PhotoSource& from,
                    const std::vector<int64_t>& ids, int64_t to) {
  Statement insert_example = database.prepare(
      fmt::format("INSERT OR IGNORE INTO examples(class, hash, feature, time, source, taken, added_by) "
                  "SELECT ?, hash, feature, time, source, taken, ? FROM {} WHERE id = ?",
                  from.table));
  Statement insert_thumbnail =
      database.prepare(fmt::format("INSERT INTO thumbnails(example, jpeg, added_by) {}", from.thumbnail));
  int64_t added = 0;
  for (const int64_t id : ids) {
    insert_example.bind(to).bind(change.id()).bind(id).run();
    if (database.rows_changed() == 0) continue;
    ++added;
    insert_thumbnail.bind(database.last_row()).bind(change.id()).bind(id).run();
  }
  return added;
}

void remove_live_examples(const Database& database, const Change& change, const std::vector<int64_t>& ids) {
  for (const int64_t id : ids) {
    if (change.remove("examples", "id", id) == 0) fail("{} has no example {}", database.path().string(), id);
    for (const char* table : kOfExamples) change.remove(table, "example", id);
  }
}

/// Moves examples of other classes; returns how many were added. Throws Error for one that is already in that class.
int64_t move_live_examples(const Database& database, const Change& change, const std::vector<int64_t>& ids, int64_t to,
                           const std::string& into) {
  const std::vector<int64_t> there = examples_of_class(database, to);
  for (const int64_t id : ids) {
    if (std::binary_search(there.begin(), there.end(), id)) fail("example {} is already in class '{}'", id, into);
  }
  const int64_t moved = copy_photos(database, change, kExamplePhotos, ids, to);
  remove_live_examples(database, change, ids);
  return moved;
}

/// Skips one change number. A revision without changes is identified by the last number that a change had. If all
/// changes were undone and some then redone, that number identifies the classes before them: compacting makes another
/// revision, which needs another number.
void use_up_revision(const Database& database) {
  if (database.number("SELECT max(id) FROM changes")) check_number_left(database);
  database.run("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'changes' AND EXISTS (SELECT 1 FROM changes)");
}

/// Releases unused space in the file to the disk, which temporarily needs as much space as the file's length.
void shrink(const Database& database) {
  try {
    database.run("VACUUM");
  } catch (const DatabaseError& error) {
    if (error.fault() != DatabaseFault::kFull) throw;
    throw DatabaseError(DatabaseFault::kFull,
                        fmt::format("{}: what was removed is erased, but the file keeps its size until {} MiB of the "
                                    "disk are free: free them and compact again",
                                    database.path().string(), (bytes_of(database) >> 20) + 1));
  }
}

std::string describe_enrolment(const EnrolledClass& enrolled) {
  const std::string& name = enrolled.now.name;
  const std::string by = "by " + count_of(static_cast<int64_t>(enrolled.now.attributes.size()), "attribute");
  if (enrolled.added == 0)
    return enrolled.is_new ? fmt::format("enrol '{}', described {}", name, by)
                           : fmt::format("describe '{}' {}", name, by);
  std::string what = fmt::format("enrol {} of '{}'", count_of(enrolled.added, "image"), name);
  if (enrolled.replaced) what += fmt::format(" and describe it {}", by);
  if (enrolled.held > 0)
    what += fmt::format(" ({} more {} there already)", enrolled.held, enrolled.held == 1 ? "was" : "were");
  return what;
}

std::string describe_change(const std::vector<EnrolledClass>& done) {
  return done.size() == 1 ? describe_enrolment(done.front()) : fmt::format("enrol {} classes", done.size());
}

}  // namespace

std::string hash_of_feature(const Array& feature) { return hash_bytes(to_blob(feature, NumberType::kFloat32)); }

NewExamples examples_of_features(const Array& features, const std::string& source) {
  NewExamples examples;
  examples.features = features;
  for (int64_t i = 0; i < features.size(0); ++i) examples.hashes.push_back(hash_of_feature(features.row(i)));
  examples.sources.assign(examples.hashes.size(), source);
  return examples;
}

void ExamplesInParts::add(NewExamples more) {
  const auto append = [](auto& all, auto&& part) {
    all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  };
  for (auto* texts : {&more.sources, &more.thumbnails}) {
    if (texts->empty()) texts->resize(more.hashes.size());
  }
  more.taken.resize(more.hashes.size());
  if (more.features.defined()) features_.push_back(std::move(more.features));
  append(rest_.hashes, more.hashes);
  append(rest_.sources, more.sources);
  append(rest_.thumbnails, more.thumbnails);
  append(rest_.times, more.times);
  append(rest_.taken, more.taken);
}

NewExamples ExamplesInParts::joined() && {
  if (!features_.empty()) rest_.features = Array::joined(features_);
  return std::move(rest_);
}

std::vector<EnrolledClass> RecognizerFile::enrol(const std::vector<ClassEnrolment>& enrolments) {
  for (const ClassEnrolment& enrolment : enrolments) {
    check_class_name(*database_, enrolment.name);
    if (enrolment.description) check_description(settings_, enrolment.name, *enrolment.description);
    check_examples(settings_, fmt::format("class '{}'", enrolment.name), enrolment.examples);
  }
  return reading(path(), [&] {
    Change change(*database_, "enrol", last_made_);
    const int64_t size_before = bytes_of(*database_);
    std::vector<EnrolledClass> done(enrolments.size());
    bool changed = false;
    for (size_t i = 0; i < enrolments.size(); ++i) {
      const auto before = describes_anew(enrolments[i]) ? find_class(enrolments[i].name) : std::nullopt;
      if (before) done[i].replaced = before->attributes;
      changed |= enrol_one(*database_, change, settings_, enrolments[i], done[i]);
    }
    for (size_t i = 0; i < enrolments.size(); ++i) done[i].now = whole_class(*this, enrolments[i].name);
    if (!changed) return done;
    check_room(*database_, size_before);
    change.call(describe_change(done));
    change.commit();
    return done;
  });
}

void RecognizerFile::rename_class(const std::string& name, const std::string& new_name) {
  const std::string checked = checked_new_class_name(new_name);
  check_class_name(*database_, name);
  reading(path(), [&] {
    Change change(*database_, fmt::format("rename class '{}' to '{}'", name, checked), last_made_);
    const int64_t id = class_id(name);
    if (live_class(*database_, checked)) fail("{} already has a class '{}'", path().string(), checked);
    change.remove("names", "class", id);
    add_name(*database_, change, id, checked);
    change.commit();
  });
}

void RecognizerFile::remove_class(const std::string& name) {
  check_class_name(*database_, name);
  reading(path(), [&] {
    Change change(*database_, fmt::format("remove class '{}'", name), last_made_);
    remove_live_class(*database_, change, class_id(name));
    change.commit();
  });
}

int64_t RecognizerFile::merge_class(const std::string& name, const std::string& into) {
  for (const std::string* one : {&name, &into}) check_class_name(*database_, *one);
  return reading(path(), [&] {
    Change change(*database_, fmt::format("merge class '{}' into '{}'", name, into), last_made_);
    const int64_t size_before = bytes_of(*database_);
    const int64_t from = class_id(name), to = class_id(into);
    if (from == to) fail("class '{}' cannot be merged into itself: name another one", name);
    const int64_t moved = copy_photos(*database_, change, kExamplePhotos, examples_of_class(*database_, from), to);
    remove_live_class(*database_, change, from);
    check_room(*database_, size_before);
    change.commit();
    return moved;
  });
}

void RecognizerFile::remove_examples(const std::vector<int64_t>& ids) {
  reading(path(), [&] {
    Change change(*database_, "remove " + count_of(static_cast<int64_t>(ids.size()), "image"), last_made_);
    remove_live_examples(*database_, change, ids);
    if (!ids.empty()) change.commit();
  });
}

int64_t RecognizerFile::move_examples(const std::vector<int64_t>& ids, const std::string& into) {
  check_class_name(*database_, into);
  return reading(path(), [&] {
    const std::string images = count_of(static_cast<int64_t>(ids.size()), "image");
    Change change(*database_, fmt::format("move {} to '{}'", images, into), last_made_);
    const int64_t size_before = bytes_of(*database_);
    const int64_t moved = move_live_examples(*database_, change, ids, class_id(into), into);
    check_room(*database_, size_before);
    if (!ids.empty()) change.commit();
    return moved;
  });
}

int64_t RecognizerFile::confirm_examples(const std::vector<int64_t>& ids) {
  return reading(path(), [&] {
    Change change(*database_, "confirm " + count_of(static_cast<int64_t>(ids.size()), "image"), last_made_);
    Statement insert = database_->prepare("INSERT OR IGNORE INTO confirmations(example, added_by) VALUES(?, ?)");
    int64_t confirmed = 0;
    for (const int64_t id : ids) {
      insert.bind(example(id).id).bind(change.id()).run();
      confirmed += database_->rows_changed();
    }
    if (confirmed > 0) change.commit();
    return confirmed;
  });
}

EnrolledClass RecognizerFile::place(const PhotoIds& photos, const ClassEnrolment& into) {
  check_class_name(*database_, into.name);
  if (into.description) check_description(settings_, into.name, *into.description);
  check_examples(settings_, fmt::format("class '{}'", into.name), into.examples);
  return reading(path(), [&] {
    const auto count = static_cast<int64_t>(photos.examples.size() + photos.unlabelled.size());
    Change change(*database_, fmt::format("move {} to '{}'", count_of(count, "image"), into.name), last_made_);
    const int64_t size_before = bytes_of(*database_);
    EnrolledClass done;
    const bool changed = enrol_one(*database_, change, settings_, into, done);
    const int64_t to = class_id(into.name);
    const int64_t placed = move_live_examples(*database_, change, photos.examples, to, into.name) +
                           copy_photos(*database_, change, kUnlabelledPhotos, photos.unlabelled, to);
    remove_live_unlabelled(*database_, change, photos.unlabelled);
    done.added += placed;
    done.held += count - placed;
    done.now = whole_class(*this, into.name);
    if (photos.examples.empty() && done.added > 0) change.call(describe_enrolment(done));
    check_room(*database_, size_before);
    if (changed || count > 0) change.commit();
    return done;
  });
}

void RecognizerFile::remove(const PhotoIds& photos) {
  reading(path(), [&] {
    const auto count = static_cast<int64_t>(photos.examples.size() + photos.unlabelled.size());
    Change change(*database_, "remove " + count_of(count, "image"), last_made_);
    remove_live_examples(*database_, change, photos.examples);
    remove_live_unlabelled(*database_, change, photos.unlabelled);
    if (count > 0) change.commit();
  });
}

void RecognizerFile::set_calibration(const nlohmann::json& calibration) {
  reading(path(), [&] {
    Change change(*database_, "calibrate", last_made_);
    replace_calibration(*database_, calibration, change.id());
    change.commit();
  });
}

void RecognizerFile::set_calibration_with_last_change(const nlohmann::json& calibration) {
  reading(path(), [&] {
    constexpr const char* kLast = "SELECT id FROM changes ORDER BY id DESC LIMIT 1";
    if (!database_->number(kLast)) return set_calibration(calibration);  // after compacting
    Transaction transaction(*database_, Access::kWrite);
    const std::optional<int64_t> last = database_->number(kLast);
    if (!last) fail("{}: no change that a calibration could belong to", path().string());
    replace_calibration(*database_, calibration, *last);
    transaction.commit();
  });
}

void RecognizerFile::set_calibration_for_good(const nlohmann::json& calibration) {
  reading(path(), [&] {
    constexpr int64_t kNoChange = 0;
    Transaction transaction(*database_, Access::kWrite);
    replace_calibration(*database_, calibration, kNoChange);
    transaction.commit();
  });
}

void RecognizerFile::compact() {
  reading(path(), [&] {
    Transaction transaction(*database_, Access::kWrite);
    forget_undone(*database_);
    for (const std::string table : changing_tables())
      database_->run("DELETE FROM " + table + " WHERE removed_by IS NOT NULL");
    use_up_revision(*database_);
    database_->run("DELETE FROM changes");
    transaction.commit();
    shrink(*database_);
  });
}

}  // namespace protocom
