#include "io/files_below.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Of links to folders: twenty folders that each link twice to the next have a million paths.
constexpr int kMostLinks = 20'000;

using FolderId = std::pair<dev_t, ino_t>;

FolderId id_of(const fs::path& folder) {
  struct stat status {};
  ::stat(folder.c_str(), &status);
  return {status.st_dev, status.st_ino};
}

}  // namespace

std::vector<fs::directory_entry> files_below(const fs::path& folder) {
  std::vector<fs::directory_entry> files;
  std::error_code error, ignored;
  std::vector<FolderId> parents = {id_of(folder)};  // of the entry, from the start of the walk
  int links = 0;
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::follow_directory_symlink, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->is_regular_file(ignored)) files.push_back(*it);
    if (!it->is_directory(ignored)) continue;
    parents.resize(static_cast<size_t>(it.depth()) + 1);
    const FolderId id = id_of(it->path());
    const bool leads_up = std::find(parents.begin(), parents.end(), id) != parents.end();
    parents.push_back(id);
    if (leads_up)
      it.disable_recursion_pending();
    else if (it->is_symlink(ignored) && ++links > kMostLinks)
      fail("the folder {} has more than 20,000 links to folders below it", folder.string());
  }
  if (error) fail("cannot list the folder {}: {}", folder.string(), error.message());
  return files;
}

}  // namespace protocom
