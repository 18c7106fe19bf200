#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "images/codec.h"
#include "images/detail/heif_decoders.h"

// Walks the boxes as libheif 1.15 does, so that nothing it acts on is missed: if it uses the first or the last of
// several boxes, all of them are checked. Unlike a decoder's, these readers return zeros beyond the end and leave
// errors to libheif.

namespace protocom::codec {
namespace {

/// Reads successive unsigned numbers, big-endian; 0 beyond the end.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  uint64_t next(size_t size) {
    uint64_t value = 0;
    for (; size > 0; --size, ++at_) value = value << 8 | (at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_]) : 0);
    return value;
  }
  void skip(size_t size) { at_ += size; }
  size_t at() const { return at_; }
  std::string_view rest() const { return bytes_.substr(std::min(at_, bytes_.size())); }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

/// Returns at most `size` bytes from a position; none beyond the end.
std::string_view slice(std::string_view bytes, uint64_t at, uint64_t size) {
  return bytes.substr(std::min<uint64_t>(at, bytes.size()), size);
}

/// Calls `visit` with the name and content of each box of `bytes` (ISO/IEC 14496-12, 4.2).
template <typename Visit>
void for_each_box(std::string_view bytes, const Visit& visit) {
  while (bytes.size() >= 8) {
    Fields header(bytes);
    uint64_t size = header.next(4);
    const std::string_view name = slice(bytes, 4, 4);
    header.skip(4);
    if (size == 1) size = header.next(8);
    if (size == 0) size = bytes.size();  // to the end of the file
    if (name == "uuid") header.skip(16);
    if (size < header.at() || size > bytes.size()) return;
    visit(name, slice(bytes, header.at(), size - header.at()));
    bytes.remove_prefix(size);
  }
}

/// Returns the contents of the boxes of a name.
std::vector<std::string_view> boxes(std::string_view bytes, std::string_view name) {
  std::vector<std::string_view> found;
  for_each_box(bytes, [&](std::string_view other, std::string_view content) {
    if (other == name) found.push_back(content);
  });
  return found;
}

/// Returns the content of each `meta` box.
std::vector<std::string_view> metas(std::string_view file) {
  std::vector<std::string_view> all = boxes(file, "meta");
  for (std::string_view& meta : all) meta = slice(meta, 4, meta.size());  // version and flags
  return all;
}

/// The type of each item of a `meta` box, as stated by the item's first `infe` box.
using Kinds = std::map<uint64_t, std::string_view>;

Kinds kinds_of(std::string_view meta) {
  Kinds kinds;
  const std::vector<std::string_view> lists = boxes(meta, "iinf");
  if (lists.empty()) return kinds;
  const std::string_view list = lists.front();
  const size_t count_size = Fields(list).next(1) == 0 ? 2 : 4;
  for (const std::string_view item : boxes(slice(list, 4 + count_size, list.size()), "infe")) {
    Fields fields(item);
    const uint64_t version = fields.next(1);
    fields.skip(3);
    const uint64_t id = fields.next(version > 2 ? 4 : 2);
    fields.skip(2);
    const std::string_view kind = version < 2 ? std::string_view{} : slice(fields.rest(), 0, 4);
    // libheif 1.15 writes outside of its memory if an overlay extends beyond the border of another; no camera makes
    // such.
    if (kind == "iovl") fail("unsupported HEIC or AVIF (image overlay)");
    kinds.emplace(id, kind);
  }
  return kinds;
}

std::string_view kind_of(const Kinds& kinds, uint64_t item) {
  const auto found = kinds.find(item);
  return found == kinds.end() ? std::string_view{} : found->second;
}

/// Whether a type is derived from other items (ISO/IEC 23008-12, 6.6): from tiles, or from one.
bool is_made(std::string_view kind) { return kind == "grid" || kind == "iden"; }
bool is_coded(std::string_view kind) { return kind == "hvc1" || kind == "av01" || kind == "vvc1"; }

/// Throws Error if no item is a supported picture: "jpeg" and "avc1" are others.
void check_kinds(const Kinds& kinds) {
  std::set<std::string_view> others;
  for (const auto& [item, kind] : kinds) {
    if (is_made(kind) || is_coded(kind)) return;
    if (!kind.empty()) others.insert(kind);
  }
  if (!others.empty()) fail("unsupported HEIF ({})", excerpt(fmt::format("{}", fmt::join(others, ", "))));
}

/// For each item, the items that are decoded for it.
using Needs = std::map<uint64_t, std::set<uint64_t>>;

/// A picture of 256 x 256 tiles, each with its transparency and its preview, has as many relevant references.
constexpr size_t kMostReferences = size_t{1} << 18;

/// Adds the references of an `iref` box; `left` is how many more relevant references are allowed.
void add_references(std::string_view box, const Kinds& kinds, size_t& left, Needs& needs) {
  Fields fields(box);
  const size_t id_size = fields.next(1) == 0 ? 2 : 4;
  fields.skip(3);
  while (!fields.rest().empty()) {
    const uint64_t size = fields.next(4);
    const std::string_view kind = slice(fields.rest(), 0, 4);
    fields.skip(4 + (size == 1 ? 8 : 0) + (kind == "uuid" ? 16 : 0));
    const uint64_t from = fields.next(id_size);
    for (uint64_t count = fields.next(2); count > 0 && !fields.rest().empty(); --count) {
      const uint64_t to = fields.next(id_size);
      if (kind != "dimg" && kind != "auxl") continue;
      if (left-- == 0) fail("damaged HEIC or AVIF (too many references)");
      if (kind == "dimg") {
        const std::string_view part = kind_of(kinds, to);
        if (is_made(part)) fail("unsupported HEIC or AVIF (an image derived from derived images)");
        // libheif reports it for tiles; otherwise it ends the process.
        if (is_made(kind_of(kinds, from)) && !is_coded(part))
          fail("damaged HEIC or AVIF (a derived image refers to an item that is not an image)");
        needs[from].insert(to);
      }
      if (kind == "auxl") needs[to].insert(from);
    }
  }
}

/// Whether the references are circular.
bool has_circle(const Needs& needs) {
  std::map<uint64_t, size_t> needed;  // number of items that need it
  for (const auto& [item, others] : needs) {
    for (const uint64_t other : others) ++needed[other];
  }
  std::vector<uint64_t> free;
  for (const auto& [item, others] : needs) {
    if (needed.count(item) == 0) free.push_back(item);
  }
  size_t left = needs.size();
  while (!free.empty()) {
    const auto found = needs.find(free.back());
    free.pop_back();
    if (found == needs.end()) continue;
    --left;
    for (const uint64_t other : found->second) {
      if (--needed[other] == 0) free.push_back(other);
    }
  }
  return left > 0;
}

/// Whether an `iprp` box turns, mirrors and crops an item more often than once each and once more: each time copies the
/// picture, and costs a byte of the file.
bool turns_too_often(std::string_view box) {
  constexpr int kMost = 4;
  std::vector<bool> turns;  // for each property
  for (const std::string_view properties : boxes(box, "ipco")) {
    for_each_box(properties, [&](std::string_view name, std::string_view) {
      turns.push_back(name == "irot" || name == "imir" || name == "clap");
    });
  }
  for (const std::string_view associations : boxes(box, "ipma")) {
    Fields fields(associations);
    const size_t id_size = fields.next(1) == 0 ? 2 : 4;
    const bool wide = (fields.next(3) & 1) != 0;
    for (uint64_t items = fields.next(4); items > 0 && !fields.rest().empty(); --items) {
      fields.skip(id_size);
      int times = 0;
      for (uint64_t count = fields.next(1); count > 0; --count) {
        const uint64_t property = wide ? fields.next(2) & 0x7FFF : fields.next(1) & 0x7F;
        if (property > 0 && property <= turns.size() && turns[property - 1] && ++times > kMost) return true;
      }
    }
  }
  return false;
}

/// Returns the canvas size stated in the data of a grid (ISO/IEC 23008-12, 6.6.2.3.2).
uint64_t stated_canvas(std::string_view data) {
  Fields fields(data);
  fields.skip(1);
  const size_t size = (fields.next(1) & 1) == 0 ? 2 : 4;
  fields.skip(2);
  const uint64_t width = fields.next(size);
  return width * fields.next(size);
}

/// Returns the largest canvas of the grids whose data an `iloc` box locates, in the file or in the `idat` box beside
/// it.
uint64_t largest_canvas(std::string_view box, const Kinds& kinds, std::string_view file, std::string_view idat) {
  constexpr size_t kEnough = 12;
  constexpr uint64_t kMostExtents = 32;  // libheif's limit
  Fields fields(box);
  const uint64_t version = fields.next(1);
  fields.skip(3);
  const uint64_t sizes = fields.next(2);
  const auto number = [&](int shift) {
    const uint64_t size = sizes >> shift & 15;
    return size == 4 || size == 8 ? fields.next(size) : 0;
  };
  uint64_t largest = 0;
  for (uint64_t count = fields.next(version < 2 ? 2 : 4); count > 0 && !fields.rest().empty(); --count) {
    const uint64_t item = fields.next(version < 2 ? 2 : 4);
    const std::string_view source = version < 1 || (fields.next(2) & 15) == 0 ? file : idat;
    fields.skip(2);
    const uint64_t base = number(4);
    uint64_t extents = fields.next(2);
    if (extents > kMostExtents) break;
    std::string data;
    for (; extents > 0; --extents) {
      if (version > 1) number(0);
      const uint64_t at = base + number(12), size = number(8);
      if (data.size() < kEnough) data += slice(source, at, std::min<uint64_t>(size, kEnough));
    }
    if (kind_of(kinds, item) == "grid") largest = std::max(largest, stated_canvas(data));
  }
  return largest;
}

}  // namespace

void check_heif_structure(std::string_view bytes) {
  Needs needs;
  size_t left = kMostReferences;
  for (const std::string_view meta : metas(bytes)) {
    const Kinds kinds = kinds_of(meta);
    check_kinds(kinds);
    for (const std::string_view box : boxes(meta, "iref")) add_references(box, kinds, left, needs);
    for (const std::string_view box : boxes(meta, "iprp")) {
      if (turns_too_often(box)) fail("damaged HEIC or AVIF (an image is rotated repeatedly)");
    }
  }
  if (has_circle(needs)) fail("damaged HEIC or AVIF (an image is derived from itself)");
}

int64_t heif_canvas_pixels(std::string_view bytes) {
  uint64_t largest = 0;
  for (const std::string_view meta : metas(bytes)) {
    const Kinds kinds = kinds_of(meta);
    const std::vector<std::string_view> idats = boxes(meta, "idat");
    const std::string_view idat = idats.empty() ? std::string_view{} : idats.front();
    for (const std::string_view box : boxes(meta, "iloc"))
      largest = std::max(largest, largest_canvas(box, kinds, bytes, idat));
  }
  return static_cast<int64_t>(std::min<uint64_t>(largest, std::numeric_limits<int64_t>::max()));
}

}  // namespace protocom::codec
