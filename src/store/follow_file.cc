#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "store/detail/database.h"
#include "store/recognizer_file.h"
#include "store/recognizer_id.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

bool are_same(const std::vector<RecognizerArtefact>& a, const std::vector<RecognizerArtefact>& b) {
  const auto is_same = [](const auto& x, const auto& y) { return x.name == y.name && x.hash == y.hash; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

[[noreturn]] void fail_replaced(const fs::path& path, const std::string& what) {
  constexpr const char* kWhatToDo =
      "nothing was changed: put the recognizer back, or restart with the file that is there";
  throw DatabaseError(
      DatabaseFault::kReplaced,
      fmt::format("{}: expected the recognizer that was opened, found that {}; {}", path.string(), what, kWhatToDo));
}

/// Opens the file that is now at the path.
RecognizerFile open_again(const fs::path& path, FileUse use, std::chrono::seconds patience) {
  try {
    return RecognizerFile(path, use, patience);
  } catch (const DatabaseError& error) {
    if (error.fault() == DatabaseFault::kBusy) throw;
    fail_replaced(path, error.what());
  } catch (const Error& error) {
    fail_replaced(path, error.what());
  }
}

}  // namespace

RecognizerFile::Identity RecognizerFile::place_of(const fs::path& path) {
  Identity place;
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return place;
  place.device = facts.st_dev;
  place.inode = facts.st_ino;
  place.size = facts.st_size;
  place.seconds = facts.st_ctim.tv_sec;
  place.nanoseconds = facts.st_ctim.tv_nsec;
  return place;
}

bool RecognizerFile::is_at_path() const {
  const Identity now = place_of(path());
  return now.device == identity_.device && now.inode == identity_.inode;
}

void RecognizerFile::read_identity(const Database& database, Identity& to) {
  Statement header = database.prepare("SELECT json FROM header");
  if (header.step()) to.header = header.text(0);
  to.newest_change = database.number("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").value_or(0);
}

/// Checks for another file's bytes written over those of the open one. SQLite may answer from its cache, so the file is
/// opened once more for the check.
bool RecognizerFile::is_as_opened() {
  Identity now = place_of(path());
  const auto stamp = [](const Identity& identity) {
    return std::tie(identity.size, identity.seconds, identity.nanoseconds);
  };
  if (stamp(now) == stamp(identity_)) return true;
  try {
    read_identity(Database::open(path(), use_, patience_), now);
  } catch (const DatabaseError& error) {
    if (error.fault() == DatabaseFault::kBusy) throw;
    return false;
  } catch (const Error&) {
    return false;
  }
  const bool is_same = now.header == identity_.header && now.newest_change >= identity_.newest_change;
  if (is_same) identity_ = now;
  return is_same;
}

bool RecognizerFile::follow() {
  if (is_at_path() && is_as_opened()) return false;
  RecognizerFile now = open_again(path(), use_, patience_);
  const bool is_same = without_id(now.header_) == without_id(header_) && are_same(now.artefacts_, artefacts_) &&
                       now.settings_.attributes == settings_.attributes;
  if (!is_same) fail_replaced(path(), "it was replaced by another recognizer");
  *this = std::move(now);
  return true;
}

}  // namespace protocom
