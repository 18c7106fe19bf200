#include <algorithm>
#include <map>

#include "base/error.h"
#include "io/files.h"
#include "store/detail/change.h"
#include "store/detail/class_query.h"
#include "store/detail/database.h"
#include "store/detail/schema.h"
#include "store/detail/stored_array.h"
#include "store/detail/write_parts.h"
#include "store/recognizer_file.h"
#include "store/recognizer_id.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPhotoTables[] = {"examples", "unlabelled"};  // those with features of photos

/// Selects the photos of one table, those not removed first.
Statement photos_of(const Database& database, const std::string& table) {
  const bool has_classes = table == "examples";
  const char* name =
      has_classes ? "(SELECT n.name FROM names n WHERE n.class = p.class AND n.removed_by IS NULL)" : "''";
  return database.prepare(
      fmt::format("SELECT p.id, p.hash, p.source, p.removed_by IS NULL, coalesce({}, '') FROM {} p "
                  "ORDER BY p.removed_by IS NOT NULL, p.id",
                  name, table));
}
enum PhotoColumn { kPhoto, kPhotoHash, kPhotoSource, kIsLive, kPhotoClass };

HeldPhoto photo_at(const Statement& row) {
  const bool is_live = row.number(kIsLive) != 0;
  return {row.text(kPhotoHash), row.text(kPhotoSource), is_live ? row.text(kPhotoClass) : std::string(), is_live};
}

struct Renewed {
  const Database& database;
  const RecognizerSettings& settings;
  const FeaturesByHash& features;
};

/// Sets the feature of each row of a table, and deletes removed rows without one.
void renew_photos(const Renewed& renewed, const std::string& table) {
  const Database& database = renewed.database;
  Statement rows = photos_of(database, table);
  Statement update = database.prepare(fmt::format("UPDATE {} SET feature = ? WHERE id = ?", table));
  Statement forget = database.prepare(fmt::format("DELETE FROM {} WHERE id = ?", table));
  Statement forget_picture = database.prepare("DELETE FROM thumbnails WHERE example = ?");
  Statement forget_confirmation = database.prepare("DELETE FROM confirmations WHERE example = ?");
  while (rows.step()) {
    const int64_t id = rows.number(kPhoto);
    const HeldPhoto photo = photo_at(rows);
    const auto found = renewed.features.find(photo.hash);
    if (found != renewed.features.end()) {
      update.bind_blob(to_blob(found->second, type_of(renewed.settings))).bind(id).run();
    } else if (photo.is_live) {
      fail("{} was enrolled during the renewal: renew again", photo.source);
    } else {
      forget.bind(id).run();
      if (table != "examples") continue;
      forget_picture.bind(id).run();
      forget_confirmation.bind(id).run();
    }
  }
}

void check_renewed(const FeaturesByHash& features, const RecognizerSettings& settings, const std::string& where) {
  NewExamples all;
  std::vector<Array> rows;
  for (const auto& [hash, feature] : features) {
    all.hashes.push_back(hash);
    rows.push_back(feature.reshaped({1, feature.numel()}));
  }
  if (!rows.empty()) all.features = Array::joined(rows);
  check_examples(settings, where, all);
}

}  // namespace

std::vector<HeldPhoto> RecognizerFile::list_photos() const {
  return reading(path(), [&] {
    const ReadView view(*database_);
    std::vector<HeldPhoto> photos;
    std::map<std::string, size_t> number;
    for (const char* table : kPhotoTables) {
      Statement row = photos_of(*database_, table);
      while (row.step()) {
        const HeldPhoto photo = photo_at(row);
        const auto [place, is_new] = number.emplace(photo.hash, photos.size());
        if (is_new)
          photos.push_back(photo);
        else if (photo.is_live && !photos[place->second].is_live)
          photos[place->second] = photo;
      }
    }
    std::stable_partition(photos.begin(), photos.end(), [](const HeldPhoto& photo) { return photo.is_live; });
    return photos;
  });
}

void RecognizerFile::write_renewed(const fs::path& path, const RecognizerSettings& settings,
                                   const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance,
                                   const FeaturesByHash& features) const {
  check_artefacts(artefacts, path.string());
  check_renewed(features, settings, path.string());
  if (settings.attributes != settings_.attributes || settings.embedding_dim != settings_.embedding_dim)
    fail("{}: its classes are described by {} attributes and {} embedding dimensions, the new method expects {} and {}",
         this->path().string(), settings_.attributes.size(), settings_.embedding_dim, settings.attributes.size(),
         settings.embedding_dim);
  std::error_code ignored;
  const bool stays = fs::equivalent(path, this->path(), ignored);
  const std::string id = stays ? recognizer_id(*this) : new_recognizer_id();
  // Other processes must not change the file between copying it and renaming the copy.
  const Transaction hold(*database_, use_ == FileUse::kChange ? Access::kWrite : Access::kRead);
  write_file_with(path, [&](const fs::path& temporary) {
    write_file(temporary, database_->serialized());
    const Database database = Database::open(temporary, FileUse::kChange);
    database.run("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF");
    Transaction transaction(database, Access::kWrite);
    write_parts(database, id, settings, artefacts, provenance);
    for (const char* table : kPhotoTables) renew_photos({database, settings, features}, table);
    database.run("DELETE FROM calibrations; DELETE FROM undone_removals WHERE part = 'calibrations'");
    transaction.commit();
    database.run("VACUUM");
  });
}

}  // namespace protocom
