#include "io/files_below.h"

#include "base/error.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Whether a link, `depth` folders below the start of the walk, leads to one of its parent folders.
bool leads_up(const fs::path& link, int depth) {
  std::error_code ignored;
  fs::path place = link;
  for (int i = 0; i <= depth; ++i) {
    place = place.parent_path();
    if (fs::equivalent(link, place, ignored)) return true;
  }
  return false;
}

}  // namespace

std::vector<fs::directory_entry> files_below(const fs::path& folder) {
  std::vector<fs::directory_entry> files;
  std::error_code error, ignored;
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->is_regular_file(ignored)) files.push_back(*it);
    if (it->is_symlink(ignored) && it->is_directory(ignored) && leads_up(it->path(), it.depth()))
      it.disable_recursion_pending();
  }
  if (error) fail("cannot list the folder {}: {}", folder.string(), error.message());
  return files;
}

}  // namespace protocom
