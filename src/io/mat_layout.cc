#include "io/detail/mat_layout.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/name_in_code.h"
#include "io/files.h"

namespace protocom {
namespace mat_layout {
namespace {

// Constants of the format.
constexpr size_t kHeader = 128, kVersionAt = 124, kOrderAt = 126;
constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";
constexpr size_t kHdf5At = 512;
constexpr uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14, kPacked = 15;
constexpr uint32_t kCell = 1, kStruct = 2, kText = 4, kSparse = 5, kFirstNumber = 6, kLastNumber = 15;
constexpr uint32_t kComplex = 0x800;

// Our limits on what a file may request.
constexpr uint64_t kFewBytes = uint64_t{16} << 20;
constexpr uint64_t kMostUnpacked = 64;  // per byte, beyond kFewBytes
constexpr uint64_t kFewElements = uint64_t{1} << 16, kBytesOfElement = 8;
constexpr uint32_t kMostMatDimensions = 32, kLongestName = 1000;
constexpr int kDeepest = 16;

/// Returns the bytes of one stored value; 0 for other types.
uint64_t size_of_type(uint32_t type) {
  constexpr std::array<uint8_t, 19> kSizes = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8, 0, 0, 1, 2, 4};
  return type < kSizes.size() ? kSizes[type] : 0;
}

/// Reads the bytes of an element in sequence, inflated if compressed.
class MatBytes {
 public:
  MatBytes(std::string_view bytes, bool packed) : bytes_(bytes) {
    if (!packed) return;
    stream_.emplace();
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_->avail_in = static_cast<uInt>(bytes.size());
    if (inflateInit(&*stream_) != Z_OK) fail("out of memory");
    buffer_.resize(size_t{64} << 10);
  }
  ~MatBytes() {
    if (stream_) inflateEnd(&*stream_);
  }
  MatBytes(const MatBytes&) = delete;
  MatBytes& operator=(const MatBytes&) = delete;

  /// Reads `count` bytes, into `to` if that is not null; returns false if there are fewer.
  bool take(uint64_t count, char* to) {
    while (count > 0) {
      if (bytes_.empty() || (stream_ && at_ == filled_)) {
        if (!stream_ || !inflate_more()) return false;
      }
      const std::string_view ready = stream_ ? std::string_view(buffer_.data() + at_, filled_ - at_) : bytes_;
      const size_t taken = std::min<uint64_t>(count, ready.size());
      if (to != nullptr) to = std::copy_n(ready.data(), taken, to);
      if (stream_) at_ += taken;
      if (!stream_) bytes_.remove_prefix(taken);
      count -= taken;
    }
    return true;
  }

 private:
  bool inflate_more() {
    stream_->next_out = reinterpret_cast<Bytef*>(buffer_.data());
    stream_->avail_out = static_cast<uInt>(buffer_.size());
    const int result = inflate(&*stream_, Z_NO_FLUSH);
    at_ = 0;
    filled_ = buffer_.size() - stream_->avail_out;
    return (result == Z_OK || result == Z_STREAM_END) && filled_ > 0;
  }

  std::string_view bytes_;
  std::optional<z_stream> stream_;
  std::vector<char> buffer_;
  size_t at_ = 0, filled_ = 0;
};

struct MatTag {
  uint32_t type = 0;
  uint64_t bytes = 0;
  bool small = false;          ///< whether its bytes are in the tag
  std::array<char, 4> inside;  ///< these bytes
};

/// Walks one variable of a file, with its content.
class MatWalk {
 public:
  MatWalk(const std::string& path, MatBytes& bytes, bool swapped, uint64_t stored)
      : path_(path),
        bytes_(bytes),
        swapped_(swapped),
        most_bytes_(std::max(kFewBytes, stored * kMostUnpacked)),
        elements_left_(kFewElements + stored / kBytesOfElement) {}

  /// `left`: the bytes stated by the variable's tag.
  void variable(uint64_t left) {
    if (left > most_bytes_) refuse_packed(left);
    matrix(left, 0);
  }

  MatTag tag(uint64_t& left) {
    std::array<char, 8> raw{};
    take(raw.size(), raw.data(), left);
    MatTag tag;
    const uint32_t first = number(raw.data());
    tag.small = first > 0xffff;
    tag.type = first & 0xffff;
    tag.bytes = tag.small ? first >> 16 : number(raw.data() + 4);
    std::copy_n(raw.data() + 4, tag.inside.size(), tag.inside.data());
    if (tag.small && tag.bytes > tag.inside.size()) damaged();
    return tag;
  }

 private:
  [[noreturn]] void damaged() const { fail("{}: damaged or truncated{}", path_, in_variable()); }
  [[nodiscard]] std::string in_variable() const { return name_.empty() ? "" : " in '" + excerpt(name_) + "'"; }

  [[noreturn]] void refuse_packed(uint64_t announced) const {
    fail(
        "{}: damaged{}: it states {} bytes, more than {} times its compressed size; if this is intended, save it "
        "without compression",
        path_, in_variable(), announced, kMostUnpacked);
  }

  void take(uint64_t count, char* to, uint64_t& left) {
    if (count > left || !bytes_.take(count, to)) damaged();
    left -= count;
  }

  uint32_t number(const char* raw) const {
    uint32_t value = 0;
    std::memcpy(&value, raw, sizeof(value));
    return swapped_ ? __builtin_bswap32(value) : value;
  }

  /// Skips the data stated by `tag`, and the padding to eight bytes; the last element may lack that.
  void pass(const MatTag& tag, uint64_t& left) {
    if (tag.small) return;
    take(tag.bytes, nullptr, left);
    take(std::min(left, -tag.bytes & 7), nullptr, left);
  }

  /// Returns the content of a small element.
  std::string content(const MatTag& tag, uint64_t most, uint64_t& left) {
    if (tag.bytes > most) damaged();
    if (tag.small) return {tag.inside.data(), tag.bytes};
    std::string bytes(tag.bytes, '\0');
    take(tag.bytes, bytes.data(), left);
    take(std::min(left, -tag.bytes & 7), nullptr, left);
    return bytes;
  }

  /// Returns the number of values of a matrix with these dimensions.
  uint64_t count_of(const std::string& dimensions) const {
    if (dimensions.size() < 8 || dimensions.size() % 4 != 0) damaged();
    uint64_t count = 1;
    bool overflows = false;
    for (size_t i = 0; i < dimensions.size(); i += 4) {
      const uint32_t size = number(dimensions.data() + i);
      if (size > INT32_MAX) damaged();
      overflows = overflows || __builtin_mul_overflow(count, uint64_t{size}, &count);
    }
    return overflows ? UINT64_MAX : count;
  }

  void matrix(uint64_t left, int depth) {
    if (depth > kDeepest) fail("{}: damaged{}: more than {} levels of cells", path_, in_variable(), kDeepest);
    const MatTag flags_tag = tag(left);
    const std::string flags = content(flags_tag, 8, left);
    if (flags_tag.type != kUint32 || flags.size() != 8) damaged();
    const uint32_t kind = number(flags.data()) & 0xff;
    const bool holds_values = kind == kText || (kind >= kFirstNumber && kind <= kLastNumber);
    if (!holds_values && kind != kCell && kind != kStruct && kind != kSparse)
      fail(
          "{} has an object (such as a table, a string or a function), which only MATLAB can read: save only features "
          "and labels in a file",
          path_);
    const MatTag dimensions_tag = tag(left);
    if (dimensions_tag.type != kInt32) damaged();
    const uint64_t count = count_of(content(dimensions_tag, uint64_t{kMostMatDimensions} * 4, left));
    const MatTag name_tag = tag(left);
    const std::string name = content(name_tag, kLongestName, left);
    if (name_tag.type != kInt8) damaged();
    if (depth == 0) name_ = name;
    if (holds_values)
      values(kind, count, (number(flags.data()) & kComplex) != 0 ? 2 : 1, left);
    else if (kind == kCell)
      elements(count, left, depth);
    else if (kind == kStruct)
      fields(count, left, depth);
    else
      lists(left);
    take(left, nullptr, left);
  }

  void values(uint32_t kind, uint64_t count, int parts, uint64_t& left) {
    if (count == 0) return;
    for (int part = 0; part < parts; ++part) {
      const MatTag data = tag(left);
      const uint64_t size = size_of_type(data.type);
      if (size == 0) damaged();
      if (data.bytes / size < count)
        fail("{}: damaged{}: it states {} values and has {}", path_, in_variable(), count, data.bytes / size);
      if (kind != kText && count > most_bytes_ / sizeof(double)) refuse_packed(count * sizeof(double));
      pass(data, left);
    }
  }

  /// Skips the arrays of a sparse matrix, whose length is that of their bytes.
  void lists(uint64_t& left) {
    while (left > 0) {
      const MatTag data = tag(left);
      if (size_of_type(data.type) == 0) damaged();
      pass(data, left);
    }
  }

  /// Walks the elements of a cell or a struct, variables without names.
  void elements(uint64_t count, uint64_t& left, int depth) {
    if (count > left / 8)
      fail("{}: damaged{}: it states {} cells and has at most {}", path_, in_variable(), count, left / 8);
    if (count > elements_left_) refuse_packed(count * 8);
    elements_left_ -= count;
    for (uint64_t i = 0; i < count; ++i) {
      const MatTag cell = tag(left);
      if (cell.small || cell.type != kMatrix || cell.bytes > left) damaged();
      if (cell.bytes > 0) matrix(cell.bytes, depth + 1);
      left -= cell.bytes;
    }
  }

  /// Walks the length of a field's name, the names, then as many elements as there are fields of structs.
  void fields(uint64_t count, uint64_t& left, int depth) {
    const MatTag length_tag = tag(left);
    const std::string length_bytes = content(length_tag, 4, left);
    if (length_tag.type != kInt32 || length_bytes.size() != 4) damaged();
    const uint32_t length = number(length_bytes.data());
    const MatTag names = tag(left);
    if (names.type != kInt8 || length == 0 || length > kLongestName || names.bytes % length != 0) damaged();
    pass(names, left);
    uint64_t all = 0;
    if (__builtin_mul_overflow(count, names.bytes / length, &all)) damaged();
    elements(all, left, depth);
  }

  const std::string& path_;
  MatBytes& bytes_;
  bool swapped_;
  std::string name_;
  uint64_t most_bytes_, elements_left_;
};

[[noreturn]] void refuse_hdf5(const std::filesystem::path& path) {
  const std::filesystem::path shown = name_in_code(path, "FILE.mat");
  fail(
      "{} is a MATLAB file of version 7.3 (HDF5), which is not supported: save it in MATLAB by save(..., '-v7'), or as "
      "npz: python3 -c \"import h5py, numpy as np; f = h5py.File('{}'); x = f['features'][()]; y = "
      "f['labels'][()].ravel(); np.savez('{}', features=x if len(x) == len(y) else x.T, labels=y)\"",
      path.string(), shown.string(), std::filesystem::path(shown).replace_extension(".npz").string());
}

/// Whether the file's byte order is swapped; throws Error for a file that is not version 5.
bool is_swapped(std::string_view bytes, const std::filesystem::path& path) {
  if (bytes.substr(0, kHdf5.size()) == kHdf5 ||
      (bytes.size() > kHdf5At && bytes.substr(kHdf5At, kHdf5.size()) == kHdf5))
    refuse_hdf5(path);
  const std::string_view order = bytes.size() < kHeader ? "" : bytes.substr(kOrderAt, 2);
  if (order != "IM" && order != "MI")
    fail("{} is not a MATLAB file of version 5 to 7: save it by save(..., '-v7')", path.string());
  const std::string_view version = bytes.substr(kVersionAt, 2);
  if (version[order == "IM" ? 1 : 0] == 2) refuse_hdf5(path);
  if (version[order == "IM" ? 1 : 0] != 1)
    fail("{} is not a MATLAB file of version 5 to 7: save it by save(..., '-v7')", path.string());
  return order == "MI";
}

void check(const std::filesystem::path& path) {
  const MappedFile file(path);
  std::string_view bytes = file.bytes();
  const bool swapped = is_swapped(bytes, path);
  bytes.remove_prefix(kHeader);
  const std::string where = path.string();
  while (!bytes.empty()) {
    MatBytes plain(bytes, false);
    uint64_t left = bytes.size();
    const MatTag outer = MatWalk(where, plain, swapped, left).tag(left);
    if (outer.small || (outer.type != kMatrix && outer.type != kPacked) || outer.bytes > left)
      fail("{}: damaged or truncated: a variable of {} bytes, but only {} are left", where, outer.bytes, left);
    bytes.remove_prefix(8);
    const std::string_view content = bytes.substr(0, outer.bytes);
    const bool packed = outer.type == kPacked;
    MatBytes source(content, packed);
    MatWalk walk(where, source, swapped, content.size());
    uint64_t inside = packed ? 8 : outer.bytes;
    if (packed) {
      const MatTag unpacked = walk.tag(inside);
      if (unpacked.small || unpacked.type != kMatrix) fail("{}: damaged: its compressed data has no variable", where);
      inside = unpacked.bytes;
    }
    if (inside > 0) walk.variable(inside);
    bytes.remove_prefix(outer.bytes);
  }
}

}  // namespace
}  // namespace mat_layout

void check_mat_layout(const std::filesystem::path& path) { mat_layout::check(path); }

}  // namespace protocom
