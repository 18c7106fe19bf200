#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "protocom/core/error.h"
#include "protocom/serve/recognizer.h"
#include "protocom/serve/recognizer_file.h"
#include "serve/database.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

bool are_same(const std::vector<RecognizerArtefact>& a, const std::vector<RecognizerArtefact>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const RecognizerArtefact& x, const RecognizerArtefact& y) {
    return x.name == y.name && x.hash == y.hash;
  });
}

[[noreturn]] void fail_replaced(const fs::path& path, const std::string& what) {
  throw DatabaseError(DatabaseFault::kReplaced,
                      fmt::format("{}: expected the recognizer that was opened, found that {}; nothing was changed: put "
                                  "the recognizer back, or start anew with what is there",
                                  path.string(), what));
}

/// What lies at the path now.
RecognizerFile open_again(const fs::path& path, std::chrono::seconds patience) {
  try {
    return RecognizerFile(path, patience);
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
  return place;
}

bool RecognizerFile::is_at_path() const {
  const Identity now = place_of(path());
  return now.device == identity_.device && now.inode == identity_.inode;
}

void RecognizerFile::read_identity(Identity& to) const {
  Statement header = database_->prepare("SELECT json FROM header");
  if (header.step()) to.header = header.text(0);
  to.newest_change = database_->number("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").value_or(0);
}

/// Another file's bytes may have been written over those of the one that is open.
bool RecognizerFile::is_as_opened() {
  Identity now;
  try {
    read_identity(now);
  } catch (const DatabaseError& error) {
    if (error.fault() == DatabaseFault::kBusy) throw;
    return false;
  }
  const bool is_same = now.header == identity_.header && now.newest_change >= identity_.newest_change;
  if (is_same) identity_.newest_change = now.newest_change;
  return is_same;
}

bool RecognizerFile::follow() {
  if (is_at_path() && is_as_opened()) return false;
  RecognizerFile now = open_again(path(), patience_);
  const bool is_same = now.identity_.header == identity_.header && are_same(now.artefacts_, artefacts_) &&
                       now.settings_.attributes == settings_.attributes;
  if (!is_same) fail_replaced(path(), "another recognizer lies there");
  *this = std::move(now);
  return true;
}

void Recognizer::follow() {
  if (!file_.follow()) return;
  snapshot_ = {};
  scorer_.reset();
  calibration_.reset();
}

}  // namespace protocom
