#include "store/recognizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/enum_words.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/text.h"
#include "io/files.h"
#include "io/json.h"
#include "io/memory_file.h"
#include "store/detail/change.h"
#include "store/detail/database.h"
#include "store/detail/schema.h"
#include "store/detail/write_parts.h"
#include "store/recognizer_id.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostDim = int64_t{1} << 20;
constexpr int64_t kLargestThumbnail = 1024;
constexpr EnumWord<FeatureType> kFeatureTypes[] = {{FeatureType::kFloat32, "float32"},
                                                   {FeatureType::kFloat16, "float16"}};

int64_t number_in(const nlohmann::json& details, const char* name, int64_t most, const std::string& where) {
  const auto value = whole_number<int64_t>(details.at(name));
  if (value < 0 || value > most) fail("{}: the header is damaged: {} is {}", where, name, value);
  return value;
}

ArtefactHeader read_header(const Database& database) {
  const std::string where = database.path().string();
  Statement row = database.prepare("SELECT json FROM header");
  if (!row.step()) fail("{}: the file is damaged: it has no header", where);
  return ArtefactHeader::from_json(parse_json(row.text(0), where), where);
}

std::vector<std::string> read_attributes(const Database& database) {
  std::vector<std::string> attributes;
  Statement rows = database.prepare("SELECT name FROM attributes ORDER BY id");
  while (rows.step()) attributes.push_back(rows.text(0));
  return attributes;
}

std::vector<RecognizerArtefact> read_artefacts(const Database& database) {
  std::vector<RecognizerArtefact> artefacts;
  Statement rows =
      database.prepare("SELECT name, path, hash, bytes IS NOT NULL, length(bytes) FROM artefacts ORDER BY id");
  while (rows.step())
    artefacts.push_back({rows.text(0), rows.text(1), rows.text(2), rows.number(3) != 0, rows.number(4)});
  check_artefacts(artefacts, database.path().string());
  return artefacts;
}

/// Writes all of a new recognizer, in a file that no other process has open: it is synced and renamed as a whole.
void write_new(const fs::path& path, const RecognizerSettings& settings,
               const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance) {
  const Database database = Database::create(path);
  database.run("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF");
  Transaction transaction(database, Access::kWrite);
  create_schema(database);
  write_parts(database, new_recognizer_id(), settings, artefacts, provenance);
  transaction.commit();
}

/// Returns the path of an artefact outside the recognizer, beside it or at its former place. Throws Error if there is
/// none or its content differs.
fs::path outside(const RecognizerArtefact& artefact, const fs::path& recognizer) {
  const fs::path beside = recognizer.parent_path() / artefact.path.filename();
  std::error_code ignored;
  const fs::path path = fs::exists(beside, ignored) ? beside : artefact.path;
  if (!fs::exists(path, ignored))
    fail("{}: missing {} {}: put it beside the recognizer", recognizer.string(), artefact.name, path.string());
  if (hash_file(path) != artefact.hash)
    fail("{} is not the {} that {} was made with (its content differs)", path.string(), artefact.name,
         recognizer.string());
  return path;
}

}  // namespace

std::string_view to_string(FeatureType type) { return word_of(kFeatureTypes, type); }

std::string RecognizerSettings::word_for(const std::string& attribute) const {
  const auto found = words.find(attribute);
  return found == words.end() ? attribute : found->second;
}

void RecognizerFile::create(const fs::path& path, const RecognizerSettings& settings,
                            const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance) {
  check_absent(path);
  check_artefacts(artefacts, path.string());
  write_file_with(path, [&](const fs::path& temporary) { write_new(temporary, settings, artefacts, provenance); });
}

RecognizerFile::RecognizerFile(const fs::path& path, FileUse use, std::chrono::seconds patience)
    : use_(use), patience_(patience), identity_(place_of(path)) {
  reading(path, [&] {
    database_ = std::make_unique<Database>(Database::open(path, use, patience));
    const Transaction view(*database_, Access::kRead);
    check_schema(*database_);
    header_ = read_header(*database_);
    settings_ = settings_of(header_, read_attributes(*database_), path.string());
    artefacts_ = read_artefacts(*database_);
    read_identity(*database_, identity_);
  });
}

RecognizerSettings RecognizerFile::settings_of(const ArtefactHeader& header, std::vector<std::string> attributes,
                                               const std::string& where) {
  const nlohmann::json& details = header.details;
  if (header.kind != kRecognizerKind)
    fail("{}: expected the header of a recognizer, found one of the kind '{}'", where, header.kind);
  RecognizerSettings settings;
  try {
    settings.preprocessing = preprocessing_from(details.at("preprocessing"), where);
    settings.feature_dim = number_in(details, "feature_dim", kMostDim, where);
    settings.embedding_dim = number_in(details, "embedding_dim", kMostDim, where);
    settings.thumbnail_side = number_in(details, "thumbnail_side", kLargestThumbnail, where);
    if (details.contains("words")) details.at("words").get_to(settings.words);
    settings.moments = details.value("moments", true);
    if (details.contains("stated_moments")) details.at("stated_moments").get_to(settings.stated_moments);
    settings.feature_type = value_of(kFeatureTypes, details.at("feature_type").get<std::string>(), "type of features");
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header is damaged: {}", where, reason_of(error));
  } catch (const UsageError& error) {
    fail("{}: the header is damaged: {}", where, error.what());
  }
  settings.attributes = std::move(attributes);
  return settings;
}

RecognizerFile::~RecognizerFile() = default;
RecognizerFile::RecognizerFile(RecognizerFile&&) noexcept = default;
RecognizerFile& RecognizerFile::operator=(RecognizerFile&&) noexcept = default;

const fs::path& RecognizerFile::path() const { return database_->path(); }

std::string RecognizerFile::serialized() const { return database_->serialized(); }

int64_t RecognizerFile::serialized_size() const { return bytes_of(*database_); }

const RecognizerArtefact* RecognizerFile::artefact(const std::string& name) const {
  const auto found =
      std::find_if(artefacts_.begin(), artefacts_.end(), [&](const auto& item) { return item.name == name; });
  return found == artefacts_.end() ? nullptr : &*found;
}

void RecognizerFile::read_artefact(const std::string& name, const std::function<void(const fs::path&)>& read) const {
  const RecognizerArtefact* found = artefact(name);
  if (found == nullptr) fail("{} has no {}", path().string(), name);
  if (!found->embedded) return read(outside(*found, path()));
  const std::string called = path().string() + ", its " + name;
  MemoryFile copy(called);
  const int64_t row = database_->prepare("SELECT id FROM artefacts WHERE name = ?", name).only_number();
  database_->read_blob("artefacts", "bytes", row, [&](std::string_view piece) { copy.append(piece); });
  try {
    if (hash_file(copy.path()) != found->hash) fail("{} is damaged", copy.path().string());
    read(copy.path());
  } catch (const Error& error) {
    fail("{}", replaced(error.what(), copy.path().string(), called));
  }
}

int64_t RecognizerFile::revision() const {
  const auto last = database_->number("SELECT max(id) FROM changes");
  return last ? *last : -database_->number("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").value_or(0);
}

std::string RecognizerFile::history(int64_t revision) const {
  return reading(path(), [&] {
    std::string all = json_text(header_.to_json());
    Statement rows =
        database_->prepare("SELECT id, time, what FROM changes WHERE id <= ? ORDER BY id", std::abs(revision));
    while (rows.step()) all += fmt::format("\n{} {} {}", rows.number(0), rows.number(1), rows.text(2));
    return hash_bytes(all);
  });
}

}  // namespace protocom
