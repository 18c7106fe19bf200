#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace protocom {

/// The whole file. Throws Error that names the file and the system's reason.
std::string read_file(const std::filesystem::path& path);

/// Writes `content` to a temporary file beside `path`, syncs it and renames it over `path`: a reader sees the old file
/// or the new one, never a half. Throws Error; the temporary file is removed then.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Runs `write` on a temporary path beside `path`, syncs the file and renames it over `path`; if `write` throws, the
/// temporary file is removed and `path` is untouched.
void write_file_with(const std::filesystem::path& path, const std::function<void(const std::filesystem::path&)>& write);

/// Throws Error unless a file could be created at `path` (its folder exists or can be made, and is writable). Call it
/// before hours of work, not after.
void check_writable(const std::filesystem::path& path);

/// Calls `visit(line_number from 1, line without its end)` for each line of a plain or gzip text file, streamed: memory
/// does not grow with the file. Returns early when `visit` returns false. Throws Error.
void for_each_line(const std::filesystem::path& path, const std::function<bool(int64_t, std::string_view)>& visit);

/// XXH3-128 of a file's bytes as 32 hexadecimal digits. It finds accidents and duplicates; it does not resist an
/// adversary.
std::string hash_file(const std::filesystem::path& path);
/// XXH3-128 of bytes as 32 hexadecimal digits.
std::string hash_bytes(std::string_view bytes);

/// A file mapped read-only into memory for the object's life. Movable, not copyable.
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
