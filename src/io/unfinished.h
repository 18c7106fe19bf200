#pragma once
#include <filesystem>

namespace protocom {

/// A file or folder in the making, under a temporary name. Unless `release` is called, it is removed again, together
/// with what libzip keeps beside it under its name, a dot and six letters: when this object dies, or when the program
/// is told to end (remove_unfinished).
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

/// A name for what is on its way to `path`, which cannot be guessed:
/// `path`.tmp-<host>.<process namespace>-<process>-<16 random hexadecimal digits>. It fits wherever `path` itself fits.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

/// Whether `path` is that of an UnfinishedPath of this process.
bool is_unfinished(const std::filesystem::path& path);

/// For messages: where an UnfinishedPath of this process is on its way to, if temporary_beside named it; else `path`.
std::filesystem::path meant_by(const std::filesystem::path& path);

/// Clears away all that is unfinished, for a program that ends at once (the user pressed Ctrl-C). Call it from a thread
/// of its own, never from a signal handler, and end the process afterwards: threads that begin or finish a file then
/// wait forever.
void remove_unfinished();

/// Removes the files that killed processes left of their way to `path`: plain files of exactly the names that
/// temporary_beside gives (and libzip's beside them) whose process was one of this machine and is no more. A folder of
/// such a name is only logged; other files are never touched.
void remove_leftovers(const std::filesystem::path& path);

}  // namespace protocom
