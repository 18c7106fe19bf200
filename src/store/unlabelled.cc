#include "store/detail/unlabelled.h"

#include "base/error.h"
#include "base/feature_values.h"
#include "io/files.h"
#include "store/detail/change.h"
#include "store/detail/read_examples.h"
#include "store/detail/schema.h"
#include "store/detail/stored_array.h"
#include "store/recognizer_file.h"

namespace protocom {
namespace {

constexpr const char* kLiveUnlabelled =
    "SELECT id, source, hash, time, jpeg, feature, taken FROM unlabelled WHERE removed_by IS NULL ORDER BY id";
enum UnlabelledColumn { kEntryId, kEntrySource, kEntryHash, kEntryTime, kEntryPicture, kEntryFeature, kEntryTaken };

int64_t count_of_unlabelled(const Database& database) {
  return database.number("SELECT count(*) FROM unlabelled WHERE removed_by IS NULL").value_or(0);
}

/// Adds the images that are new; returns their number.
int64_t add_images(const Database& database, const Change& change, const NewExamples& images, NumberType type) {
  Statement add = database.prepare(
      "INSERT OR IGNORE INTO unlabelled(hash, feature, time, source, jpeg, taken, added_by) VALUES(?, ?, ?, ?, ?, ?, "
      "?)");
  int64_t added = 0;
  for (size_t i = 0; i < images.hashes.size(); ++i) {
    add.bind(images.hashes[i]).bind_blob(to_blob(images.features.row(static_cast<int64_t>(i)), type));
    add.bind(images.times.empty() ? seconds_now() : images.times[i]);
    add.bind(images.sources.empty() ? std::string() : images.sources[i]);
    add.bind_blob(images.thumbnails.empty() ? std::string() : images.thumbnails[i]);
    add.bind(images.taken.empty() ? std::nullopt : images.taken[i]).bind(change.id()).run();
    added += database.rows_changed();
  }
  return added;
}

/// Returns a feature, [1, d].
Array feature_at(const Statement& row, const Database& database, const RecognizerSettings& settings) {
  const std::string what = fmt::format("{}: unlabelled image {}", database.path().string(), row.number(kEntryId));
  return from_blob(row.blob(kEntryFeature), type_of(settings), settings.feature_dim, what)
      .reshaped({1, settings.feature_dim});
}

}  // namespace

Array read_unlabelled(const Database& database, const RecognizerSettings& settings) {
  std::vector<Array> rows;
  Statement row = database.prepare(kLiveUnlabelled);
  while (row.step()) rows.push_back(feature_at(row, database, settings));
  if (rows.empty()) return {};
  Array features = Array::joined(rows).to(NumberType::kFloat32);
  check_features(features, fmt::format("{}: its unlabelled images are damaged", database.path().string()));
  return features;
}

NewExamples unlabelled_contents(const Database& database, const RecognizerSettings& settings) {
  NewExamples kept;
  kept.features = read_unlabelled(database, settings);
  if (!kept.features.defined()) return kept;
  Statement row = database.prepare(kLiveUnlabelled);
  while (row.step()) {
    kept.hashes.push_back(row.text(kEntryHash));
    kept.sources.push_back(row.text(kEntrySource));
    kept.thumbnails.push_back(row.text(kEntryPicture));
    kept.times.push_back(row.number(kEntryTime));
    kept.taken.push_back(row.real(kEntryTaken));
  }
  return kept;
}

void remove_live_unlabelled(const Database& database, const Change& change, const std::vector<int64_t>& ids) {
  for (const int64_t id : ids) {
    if (change.remove("unlabelled", "id", id) == 0) fail("{} has no unlabelled image {}", database.path().string(), id);
  }
}

std::vector<ExampleInfo> RecognizerFile::list_unlabelled() const {
  return reading(path(), [&] {
    const ReadView view(*database_);
    std::vector<ExampleInfo> entries;
    Statement row = database_->prepare(kLiveUnlabelled);
    while (row.step())
      entries.push_back({row.number(kEntryId), "", row.text(kEntrySource), row.text(kEntryHash), row.number(kEntryTime),
                         row.real(kEntryTaken)});
    return entries;
  });
}

int64_t RecognizerFile::count_unlabelled() const {
  return reading(path(), [&] { return count_of_unlabelled(*database_); });
}

std::string RecognizerFile::unlabelled_thumbnail(int64_t id) const {
  return reading(path(), [&] {
    Statement row = database_->prepare("SELECT jpeg FROM unlabelled WHERE id = ? AND removed_by IS NULL", id);
    if (row.step()) return row.text(0);
    fail("{} has no unlabelled image {}", path().string(), id);
  });
}

int64_t RecognizerFile::add_unlabelled(const NewExamples& images) {
  check_examples(settings_, "unlabelled images", images);
  return reading(path(), [&] {
    Change change(*database_, "add unlabelled images", last_made_);
    const int64_t size_before = bytes_of(*database_);
    const int64_t added = add_images(*database_, change, images, type_of(settings_));
    if (const int64_t all = count_of_unlabelled(*database_); all > kMostUnlabelled)
      fail("{} holds {} unlabelled images, and {} more exceed the limit of {}", path().string(), all - added, added,
           kMostUnlabelled);
    if (added == 0) return added;
    check_room(*database_, size_before);
    change.call("add " + count_of(added, "unlabelled image"));
    change.commit();
    return added;
  });
}

void RecognizerFile::remove_unlabelled(const std::vector<int64_t>& ids) {
  reading(path(), [&] {
    Change change(*database_, "remove " + count_of(static_cast<int64_t>(ids.size()), "unlabelled image"), last_made_);
    remove_live_unlabelled(*database_, change, ids);
    if (!ids.empty()) change.commit();
  });
}

int64_t RecognizerFile::remove_all_unlabelled() {
  return reading(path(), [&] {
    Change change(*database_, "remove all unlabelled images", last_made_);
    const int64_t count = count_of_unlabelled(*database_);
    if (count == 0) return count;
    database_->prepare("UPDATE unlabelled SET removed_by = ? WHERE removed_by IS NULL", change.id()).run();
    change.call("remove " + count_of(count, "unlabelled image"));
    change.commit();
    return count;
  });
}

}  // namespace protocom
