#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// Whether a folder is there. Unlike std::filesystem's, it does not throw for a path that cannot be examined, such as
/// one that is too long: opening it reports what is wrong.
bool is_folder(const std::filesystem::path& path);

/// Throws Error when a folder, a pipe or a device is there: what a file names must not be waited for, or read without
/// end. If nothing is there, opening it reports that.
void check_plain_file(const std::filesystem::path& path);

/// The whole file. Throws Error that names the file and the system's reason. Of what is not a plain file only standard
/// input and streams the caller has opened (/dev/stdin, /dev/fd/5) are read, up to 1 GiB; so are they by for_each_line.
std::string read_file(const std::filesystem::path& path);

/// Writes `content` to a temporary file beside `path`, syncs it and renames it over `path`: a reader sees the old file
/// or the new one, never a half. A link stays, its target is what is replaced; a file that is replaced hands on its
/// mode. What is not a plain file (a pipe, /dev/null) is written to as it is. Throws Error; the temporary file is
/// removed then.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Runs `write` on the path of a new empty file and puts that where write_file would; if `write` throws, the new file
/// is removed and `path` is untouched. An UnfinishedPath of this process is handed to `write` as it is.
void write_file_with(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write);

/// Writes a file that only its owner can read, at a path where nothing is yet, not even a link. Throws Error.
void write_new_file(const std::filesystem::path& path, std::string_view content);

/// Throws Error unless a file could be created at `path` (its name is one, its folder exists or can be made, and is
/// writable). Call it before hours of work, not after. Also clears what killed processes left there
/// (remove_leftovers).
void check_writable(const std::filesystem::path& path);

/// Throws Error if something is there already that must not be lost: a file or a folder that is not empty. For what
/// people continue to edit by hand, or add to.
void check_absent(const std::filesystem::path& path);

/// The longest line that for_each_line reads, in bytes.
inline constexpr size_t kLongestLine = size_t{16} << 20;

/// Calls `visit(line_number from 1, line without its end)` for each line of a plain or gzip text file, streamed: memory
/// does not grow with the file. Returns early when `visit` returns false. Throws Error, also for a line longer than
/// kLongestLine, and for more than 32 MiB that were packed to less than a 200th.
void for_each_line(const std::filesystem::path& path, const std::function<bool(int64_t, std::string_view)>& visit);

/// XXH3-128 of a plain file's bytes as 32 hexadecimal digits. It finds accidents and duplicates; it does not resist an
/// adversary.
std::string hash_file(const std::filesystem::path& path);
/// XXH3-128 of bytes as 32 hexadecimal digits.
std::string hash_bytes(std::string_view bytes);

/// Throws the exception that is being handled as an Error that names `path`, unless it is one that does already.
[[noreturn]] void rethrow_for(const std::filesystem::path& path);

/// Runs `read`, which reads `path`. Whatever it throws, another library's exception too, leaves as an Error of one
/// sentence that names the file.
template <typename Read>
auto reading(const std::filesystem::path& path, const Read& read) {
  try {
    return read();
  } catch (...) {
    rethrow_for(path);
  }
}

/// A plain file mapped read-only into memory for the object's life. Movable, not copyable.
class MappedFile {
 public:
  /// Throws Error when the file cannot be opened or mapped.
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
