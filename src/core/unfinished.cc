#include "protocom/core/unfinished.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace protocom {
namespace {

namespace fs = std::filesystem;

struct Registry {
  std::mutex mutex;
  std::multiset<fs::path> paths;
};

// Never destroyed: a thread may finish a file while the program's statics are already gone.
Registry& registry() {
  static auto* const result = new Registry;
  return *result;
}

fs::path parent_folder(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// The path and what lies beside it under a name that begins with it and a dot: a library may write there first (libzip
/// adds six letters). Errors leave things out.
std::vector<fs::path> path_and_relatives(const fs::path& path) {
  const std::string name = path.filename().string();
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent_folder(path), error), end; !error && entry != end; entry.increment(error)) {
    const std::string other = entry->path().filename().string();
    if (other == name || other.rfind(name + ".", 0) == 0) found.push_back(entry->path());
  }
  return found;
}

void remove_with_relatives(const fs::path& path) {
  std::error_code ignored;
  for (const fs::path& one : path_and_relatives(path)) fs::remove_all(one, ignored);
}

/// The process in "name.tmp-123-0" after `prefix` = "name.tmp-"; 0 when there is none.
pid_t process_in(const std::string& name, const std::string& prefix) {
  if (name.rfind(prefix, 0) != 0) return 0;
  return static_cast<pid_t>(std::strtol(name.c_str() + prefix.size(), nullptr, 10));
}

bool is_gone(pid_t process) { return process > 0 && ::kill(process, 0) != 0 && errno == ESRCH; }

}  // namespace

UnfinishedPath::UnfinishedPath(fs::path path) : path_(std::move(path)) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.paths.insert(path_);
}

UnfinishedPath::~UnfinishedPath() {
  if (released_) return;
  remove_with_relatives(path_);
  release();
}

void UnfinishedPath::release() {
  released_ = true;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.paths.find(path_);
  if (found != all.paths.end()) all.paths.erase(found);
}

fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  return fs::path(fmt::format("{}.tmp-{}-{}", path.string(), ::getpid(), counter++));
}

void remove_unfinished() {
  Registry& all = registry();
  all.mutex.lock();                    // for good: nobody may begin another file now
  for (const int round : {1, 2, 3}) {  // a thread that is at work may still create one
    for (const fs::path& path : all.paths) remove_with_relatives(path);
    if (round < 3) ::usleep(2000);
  }
}

void remove_leftovers(const fs::path& path) {
  const std::string name = path.filename().string();
  std::error_code ignored;
  for (const fs::path& found : path_and_relatives(path)) {
    const std::string other = found.filename().string();
    if (is_gone(process_in(other, name + ".tmp-")) || is_gone(process_in(other, name + ".part-")))
      fs::remove_all(found, ignored);
  }
}

}  // namespace protocom
