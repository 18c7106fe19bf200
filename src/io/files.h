#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// Whether a folder exists. Unlike std::filesystem's, it does not throw for a path that cannot be examined, such as one
/// that is too long: opening it reports the reason.
bool is_folder(const std::filesystem::path& path);

/// Throws Error if the path is a folder, a pipe or a device: a path stated in a file must not block, or be read without
/// end. If nothing exists there, opening it reports that.
void check_plain_file(const std::filesystem::path& path);

/// Reads the whole file. Throws Error that names the file and the system's reason. Of special files only standard input
/// and streams opened by the caller (/dev/stdin, /dev/fd/5) are read, up to 1 GiB; the same holds for for_each_line.
std::string read_file(const std::filesystem::path& path);

/// Writes `content` to a temporary file beside `path`, syncs it and renames it over `path`: a reader sees the old file
/// or the new one, never a partial one. If `path` is a link, its target is replaced; a replaced file's mode is kept.
/// Special files (a pipe, /dev/null) are written to directly. Throws Error; the temporary file is removed then.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Runs `write` on the path of a new empty file and moves that where write_file would; if `write` throws, the new file
/// is removed and `path` is untouched. An UnfinishedPath of this process is passed to `write` directly.
void write_file_with(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write);

/// Writes a file that only its owner can read, at a path where nothing exists, not even a link. Throws Error.
void write_new_file(const std::filesystem::path& path, std::string_view content);

/// Throws Error unless a file could be created at `path` (its name is valid, its folder exists or can be made, and is
/// writable). Call it before hours of work, not after. Also removes the temporary files of killed processes
/// (remove_leftovers).
void check_writable(const std::filesystem::path& path);

/// Throws Error if something exists there that must not be lost: a file or a folder that is not empty. For outputs that
/// users edit by hand, or add to.
void check_absent(const std::filesystem::path& path);

/// The longest line that for_each_line reads, in bytes.
inline constexpr size_t kLongestLine = size_t{16} << 20;

/// Calls `visit(line_number from 1, line without its end)` for each line of a plain or gzip text file, streamed: memory
/// does not grow with the file. Returns early if `visit` returns false. Throws Error, also for a line longer than
/// kLongestLine, and for more than 32 MiB that were compressed by a factor of more than 200.
void for_each_line(const std::filesystem::path& path, const std::function<bool(int64_t, std::string_view)>& visit);

/// Returns XXH3-128 of a plain file's bytes as 32 hexadecimal digits. It finds accidents and duplicates; it does not
/// resist an adversary.
std::string hash_file(const std::filesystem::path& path);
/// Returns XXH3-128 of bytes as 32 hexadecimal digits.
std::string hash_bytes(std::string_view bytes);

/// Rethrows the current exception as an Error that names `path`, unless it already does.
[[noreturn]] void rethrow_for(const std::filesystem::path& path);

/// Runs `read`, which reads `path`. Converts any exception, also of another library, to an Error of one sentence that
/// names the file.
template <typename Read>
auto reading(const std::filesystem::path& path, const Read& read) {
  try {
    return read();
  } catch (...) {
    rethrow_for(path);
  }
}

/// A plain file mapped read-only into memory for the object's lifetime. Movable, not copyable.
class MappedFile {
 public:
  /// Throws Error if the file cannot be opened or mapped.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  [[nodiscard]] std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace protocom
