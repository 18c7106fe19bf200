#pragma once
#include <filesystem>

namespace protocom {

/// A file or folder in progress, under a temporary name. Unless `release` is called, it is removed, together with what
/// libraries keep beside it (libzip: its name, a dot and six letters; SQLite: its name and "-journal"): when this
/// object is destroyed, or when the program is told to end (remove_unfinished).
class UnfinishedPath {
 public:
  explicit UnfinishedPath(std::filesystem::path path);
  ~UnfinishedPath();
  UnfinishedPath(const UnfinishedPath&) = delete;
  UnfinishedPath& operator=(const UnfinishedPath&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Call when it has got its final name, or was removed: nothing is left to remove.
  void release();

 private:
  std::filesystem::path path_;
  bool released_ = false;
};

/// Returns an unpredictable name for a temporary file or folder that will become `path`:
/// `path`.tmp-<host>.<process namespace>-<process>-<16 random hexadecimal digits>. It is valid wherever `path` itself
/// is.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Whether `path` is that of an UnfinishedPath of this process.
bool is_unfinished(const std::filesystem::path& path);

/// Returns a path for messages: the destination of an UnfinishedPath of this process, if temporary_beside named it;
/// else `path`.
std::filesystem::path meant_by(const std::filesystem::path& path);

/// Removes everything unfinished, for a program that ends at once (the user pressed Ctrl-C). Call it from a separate
/// thread, never from a signal handler, and end the process afterwards: threads that begin or finish a file then wait
/// forever.
void remove_unfinished();

/// Removes the temporary files for `path` left by killed processes: plain files of exactly the names that
/// temporary_beside gives (and the libraries' beside them) whose process was on this machine and no longer exists. A
/// folder of such a name is only logged; other files are never touched.
void remove_leftovers(const std::filesystem::path& path);

}  // namespace protocom
