#include "io/detail/stored_member.h"

#include <algorithm>
#include <cstdint>

namespace protocom {
namespace {

constexpr uint32_t kEndMark = 0x06054b50, kEnd64Mark = 0x06064b50, kLocator64Mark = 0x07064b50;
constexpr uint32_t kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr size_t kEndSize = 22, kLocatorSize = 20, kEntrySize = 46, kLocalSize = 30;
constexpr uint64_t kIn64 = 0xffffffff;  // the number is in the entry's extra field

/// Reads little-endian numbers of an archive; nothing beyond its end.
class ArchiveBytes {
 public:
  explicit ArchiveBytes(std::string_view all) : all_(all) {}
  [[nodiscard]] std::optional<uint64_t> number(uint64_t at, size_t width) const {
    if (at > all_.size() || width > all_.size() - at) return std::nullopt;
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<uint8_t>(all_[at + i]);
    return value;
  }
  [[nodiscard]] bool has(uint64_t at, uint32_t mark) const { return number(at, 4) == mark; }
  [[nodiscard]] std::optional<std::string_view> part(uint64_t at, uint64_t size) const {
    if (at > all_.size() || size > all_.size() - at) return std::nullopt;
    return all_.substr(at, size);
  }

 private:
  std::string_view all_;
};

struct Directory {
  uint64_t entries = 0, at = 0;
};

std::optional<Directory> find_directory(std::string_view archive) {
  constexpr size_t kLongestComment = 65535;
  const ArchiveBytes bytes(archive);
  if (archive.size() < kEndSize) return std::nullopt;
  const size_t last = archive.size() - kEndSize;
  for (size_t at = last + 1; at-- > last - std::min(last, kLongestComment);) {
    if (!bytes.has(at, kEndMark)) continue;
    if (at >= kLocatorSize && bytes.has(at - kLocatorSize, kLocator64Mark)) {
      const uint64_t end = bytes.number(at - kLocatorSize + 8, 8).value_or(archive.size());
      if (!bytes.has(end, kEnd64Mark)) return std::nullopt;
      const auto entries = bytes.number(end + 32, 8), begin = bytes.number(end + 48, 8);
      return entries && begin ? std::optional(Directory{*entries, *begin}) : std::nullopt;
    }
    return Directory{*bytes.number(at + 10, 2), *bytes.number(at + 16, 4)};
  }
  return std::nullopt;
}

/// An entry of the archive's directory.
struct Entry {
  uint64_t flags = 0, method = 0, packed = 0, size = 0, local = 0;
};

/// Replaces the numbers that do not fit into 32 bits by those of the 64-bit extra field.
bool take_64(std::string_view extra, Entry& entry) {
  const ArchiveBytes bytes(extra);
  for (uint64_t at = 0; bytes.number(at, 4).has_value();) {
    const uint64_t id = *bytes.number(at, 2), size = *bytes.number(at + 2, 2);
    uint64_t next = at + 4;
    at = next + size;
    if (id != 1) continue;
    for (uint64_t* value : {&entry.size, &entry.packed, &entry.local}) {
      if (*value != kIn64) continue;
      const auto wide = bytes.number(next, 8);
      if (!wide) return false;
      *value = *wide;
      next += 8;
    }
  }
  return true;
}

std::optional<std::string_view> content_of(std::string_view archive, const Entry& entry) {
  const ArchiveBytes bytes(archive);
  const bool is_stored = entry.method == 0 && (entry.flags & 1U) == 0 && entry.packed == entry.size;
  if (!is_stored || !bytes.has(entry.local, kLocalMark)) return std::nullopt;
  const auto name = bytes.number(entry.local + 26, 2), extra = bytes.number(entry.local + 28, 2);
  if (!name || !extra) return std::nullopt;
  return bytes.part(entry.local + kLocalSize + *name + *extra, entry.size);
}

}  // namespace

std::optional<std::string_view> stored_member(std::string_view archive, const std::string& name) {
  const ArchiveBytes bytes(archive);
  const auto directory = find_directory(archive);
  if (!directory) return std::nullopt;
  uint64_t at = directory->at;
  for (uint64_t i = 0; i < directory->entries && bytes.has(at, kEntryMark); ++i) {
    const auto name_size = bytes.number(at + 28, 2), extra_size = bytes.number(at + 30, 2),
               comment_size = bytes.number(at + 32, 2), local = bytes.number(at + 42, 4);
    if (!local) return std::nullopt;
    const auto own = bytes.part(at + kEntrySize, *name_size);
    const auto extra = bytes.part(at + kEntrySize + *name_size, *extra_size);
    if (!own || !extra) return std::nullopt;
    if (*own == name) {
      Entry entry{*bytes.number(at + 8, 2), *bytes.number(at + 10, 2), *bytes.number(at + 20, 4),
                  *bytes.number(at + 24, 4), *local};
      return take_64(*extra, entry) ? content_of(archive, entry) : std::nullopt;
    }
    at += kEntrySize + *name_size + *extra_size + *comment_size;
  }
  return std::nullopt;
}

}  // namespace protocom
