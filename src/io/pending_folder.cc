#include "io/pending_folder.h"

#include <system_error>

#include "base/error.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

/// Returns the path without a trailing slash; for a link its target.
fs::path plain_place(const fs::path& folder) {
  const fs::path named = folder.has_filename() ? folder : folder.parent_path();
  std::error_code error;
  const fs::path real = fs::canonical(named, error);
  return error ? named : real;
}

}  // namespace

PendingFolder::PendingFolder(const fs::path& final_place)
    : final_(plain_place(final_place)), pending_(temporary_beside(final_)) {
  std::error_code error;
  if (fs::exists(final_, error) && (!fs::is_directory(final_, error) || !fs::is_empty(final_, error)))
    fail("{} exists and is not an empty folder: choose another name, or remove it first", final_place.string());
  error.clear();
  if (pending_.path().has_parent_path()) fs::create_directories(pending_.path().parent_path(), error);
  remove_leftovers(final_);
  // Fails if something exists already: the folder must be ours alone.
  if (!error && !fs::create_directory(pending_.path(), error) && !error)
    error = std::make_error_code(std::errc::file_exists);
  if (error) fail("cannot create the folder {}: {}", pending_.path().string(), error.message());
}

void PendingFolder::keep() {
  std::error_code error;
  fs::remove(final_, error);
  fs::rename(pending_.path(), final_, error);
  if (error) fail("cannot rename {} to {}: {}", pending_.path().string(), final_.string(), error.message());
  pending_.release();
}

}  // namespace protocom
