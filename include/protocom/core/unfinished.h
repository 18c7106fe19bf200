#pragma once
#include <filesystem>

namespace protocom {

/// A file or folder in the making, under a temporary name. Unless `release` is called, whatever lies at the path, or
/// beside it under its name and a dot and more, is removed again: when this object dies, or when the program is told to
/// end (remove_unfinished).
class UnfinishedPath {
 public:
  explicit UnfinishedPath(std::filesystem::path path);
  ~UnfinishedPath();
  UnfinishedPath(const UnfinishedPath&) = delete;
  UnfinishedPath& operator=(const UnfinishedPath&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// It has got its final name, or was removed: there is nothing to clear away any more.
  void release();

 private:
  std::filesystem::path path_;
  bool released_ = false;
};

/// The temporary name that files of this process get on their way to `path`: `path`.tmp-<process>-<number>.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Clears away all that is unfinished, for a program that ends at once (the user pressed Ctrl-C). Call it from a thread
/// of its own, never from a signal handler, and end the process afterwards: threads that begin or finish a file then
/// wait forever.
void remove_unfinished();

/// Removes what processes that are no more left of their way to `path` (they were killed): files and folders named
/// `path`.tmp-<process>... or `path`.part-<process>... whose process does not exist on this machine.
void remove_leftovers(const std::filesystem::path& path);

}  // namespace protocom
