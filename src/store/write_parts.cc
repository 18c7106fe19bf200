#include "store/detail/write_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/json_text.h"
#include "base/text.h"
#include "io/files.h"
#include "io/json.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr int kFormatVersion = 1;
constexpr std::array<std::string_view, 4> kArtefactNames = {"backbone", "model", "fitted", "knowledge"};

nlohmann::json details_of(const RecognizerSettings& settings) {
  nlohmann::json details = {
      {"preprocessing", to_json(settings.preprocessing)}, {"feature_dim", settings.feature_dim},
      {"embedding_dim", settings.embedding_dim},          {"feature_type", to_string(settings.feature_type)},
      {"thumbnail_side", settings.thumbnail_side},        {"words", settings.words}};
  if (!settings.moments) details["moments"] = false;
  if (!settings.stated_moments.empty()) details["stated_moments"] = settings.stated_moments;
  return details;
}

void add_artefact(const Database& database, const RecognizerArtefact& artefact) {
  constexpr int64_t kMostBytes = 1'000'000'000;  // limit of SQLite for one value
  check_plain_file(artefact.path);
  const auto size = static_cast<int64_t>(fs::file_size(artefact.path));
  if (artefact.embedded && size > kMostBytes)
    fail(
        "{} has {} bytes, the limit of files in a recognizer is {}: a backbone can stay outside "
        "(--external-backbone)",
        artefact.path.string(), size, kMostBytes);
  Statement add = database.prepare("INSERT INTO artefacts(name, path, hash, bytes) VALUES(?, ?, ?, ?)");
  add.bind(artefact.name).bind(fs::absolute(artefact.path).lexically_normal().string()).bind(hash_file(artefact.path));
  artefact.embedded ? add.bind_zeros(size) : add.bind_null();
  add.run();
  if (artefact.embedded) database.write_blob("artefacts", "bytes", database.last_row(), artefact.path);
}

void add_attributes(const Database& database, const std::vector<std::string>& attributes) {
  Statement add = database.prepare("INSERT INTO attributes(name) VALUES(?)");
  for (const std::string& name : attributes) add.bind(name).run();
}

void write_header(const Database& database, const std::string& id, const RecognizerSettings& settings,
                  const Provenance& provenance) {
  ArtefactHeader header = make_header(kRecognizerKind, kFormatVersion, provenance);
  header.details = details_of(settings);
  header.details[kRecognizerId] = id;
  // Names of its source files may contain any bytes.
  const std::string text = json_text(header.to_json());
  database.prepare("INSERT INTO header(json) VALUES(?)", text).run();
}

}  // namespace

void check_artefacts(const std::vector<RecognizerArtefact>& artefacts, const std::string& where) {
  std::set<std::string> seen;
  for (const RecognizerArtefact& artefact : artefacts) {
    if (std::find(kArtefactNames.begin(), kArtefactNames.end(), artefact.name) == kArtefactNames.end())
      fail("{}: the file is damaged: it has an artefact '{}', expected one of {}", where, excerpt(artefact.name),
           fmt::join(kArtefactNames, ", "));
    if (!seen.insert(artefact.name).second)
      fail("{}: the file is damaged: duplicate artefact '{}'", where, artefact.name);
    if (artefact.path.string().find('\0') != std::string::npos)
      fail("{}: the file is damaged: the path of its {} has a zero byte", where, artefact.name);
  }
}

void write_parts(const Database& database, const std::string& id, const RecognizerSettings& settings,
                 const std::vector<RecognizerArtefact>& artefacts, const Provenance& provenance) {
  database.run("DELETE FROM header; DELETE FROM attributes; DELETE FROM artefacts");
  write_header(database, id, settings, provenance);
  add_attributes(database, settings.attributes);
  for (const RecognizerArtefact& artefact : artefacts) add_artefact(database, artefact);
}

}  // namespace protocom
