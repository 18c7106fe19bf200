#include "datasets/photo_keywords.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/clean_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "images/folder_walk.h"
#include "io/files.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPacketBegin = "<x:xmpmeta", kPacketEnd = "</x:xmpmeta>";
constexpr std::string_view kClassesFrom = "keywords";
constexpr char kBetweenLevels = '|';
constexpr size_t kMostKeywords = 1000, kLongestKeyword = 1000;  // they are compared with one another

void add(const std::vector<std::string>& words, std::vector<std::string>& all) {
  for (const std::string& word : words) {
    if (std::find(all.begin(), all.end(), word) == all.end()) all.push_back(word);
  }
}

/// Throws Error for more keywords than a photo can have, and for longer ones.
void check_keywords(const std::vector<std::string>& words, const fs::path& path) {
  if (words.size() > kMostKeywords)
    fail("{}: {} keywords, expected at most {}", path.string(), words.size(), kMostKeywords);
  for (const std::string& word : words) {
    if (word.size() > kLongestKeyword)
      fail("{}: a keyword of {} bytes, expected at most {}", path.string(), word.size(), kLongestKeyword);
  }
}

void add_checked(const XmpKeywords& words, const fs::path& path, XmpKeywords& all) {
  check_keywords(words.plain, path);
  check_keywords(words.hierarchical, path);
  add(words.plain, all.plain);
  add(words.hierarchical, all.hierarchical);
}

/// Returns the XMP packet in a file; empty: none.
std::string packet_in(std::string_view bytes) {
  const size_t begin = bytes.find(kPacketBegin);
  const size_t end = begin == std::string_view::npos ? begin : bytes.find(kPacketEnd, begin);
  return end == std::string_view::npos ? "" : std::string(bytes.substr(begin, end + kPacketEnd.size() - begin));
}

/// Reads a big-endian number of two bytes; 0 beyond the end.
size_t two_bytes(std::string_view bytes, size_t at) {
  if (at + 2 > bytes.size()) return 0;
  return static_cast<size_t>(static_cast<unsigned char>(bytes[at])) << 8U | static_cast<unsigned char>(bytes[at + 1]);
}

/// Returns the content of a JPEG segment after its identifier; empty: there is none.
std::string_view jpeg_segment(std::string_view bytes, unsigned char marker, std::string_view name) {
  size_t at = 2;
  while (at + 4 <= bytes.size() && bytes[at] == '\xff') {
    const auto kind = static_cast<unsigned char>(bytes[at + 1]);
    constexpr unsigned char kScan = 0xda;
    if (kind == kScan) break;
    const size_t length = two_bytes(bytes, at + 2);
    const std::string_view segment = bytes.substr(at + 4, length < 2 ? 0 : length - 2);
    if (kind == marker && segment.substr(0, name.size()) == name) return segment.substr(name.size());
    at += 2 + std::max<size_t>(length, 2);
  }
  return {};
}

/// Returns the block of Photoshop's image resources with that number; empty: there is none.
std::string_view resource(std::string_view blocks, size_t number) {
  constexpr std::string_view kBegin = "8BIM";
  for (size_t at = 0; at + 12 <= blocks.size() && blocks.substr(at, 4) == kBegin;) {
    const size_t name = 1 + static_cast<size_t>(static_cast<unsigned char>(blocks[at + 6]));
    const size_t size_at = at + 6 + name + name % 2;
    const size_t size = two_bytes(blocks, size_at) << 16U | two_bytes(blocks, size_at + 2);
    if (size_at + 4 > blocks.size()) break;
    if (two_bytes(blocks, at + 4) == number) return blocks.substr(size_at + 4, size);
    at = size_at + 4 + size + size % 2;
  }
  return {};
}

/// Converts IPTC without a stated encoding, which is UTF-8 or Latin-1.
std::string as_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string made;
  for (const char one : text) {
    const auto code = static_cast<unsigned char>(one);
    constexpr unsigned char kAscii = 0x80;
    if (code < kAscii)
      made += one;
    else
      made += {static_cast<char>(0xc0U | code >> 6U), static_cast<char>(0x80U | (code & 0x3fU))};
  }
  return made;
}

std::vector<std::string> iptc_keywords(std::string_view jpeg) {
  constexpr unsigned char kApp13 = 0xed;
  constexpr size_t kIptc = 0x0404, kHead = 5;
  const std::string_view records = resource(jpeg_segment(jpeg, kApp13, {"Photoshop 3.0\0", 14}), kIptc);
  std::vector<std::string> words;
  for (size_t at = 0; at + kHead <= records.size() && records[at] == '\x1c';) {
    const size_t length = two_bytes(records, at + 3);
    if (records.substr(at + 1, 2) == std::string_view("\x02\x19"))
      words.push_back(as_utf8(records.substr(at + kHead, length)));
    at += kHead + length;
  }
  return words;
}

/// Returns the keywords that are not a prefix of a deeper one.
std::vector<std::string> deepest(const std::vector<std::string>& keywords) {
  std::vector<std::string> kept;
  for (const std::string& one : keywords) {
    const std::string above = one + kBetweenLevels;
    const auto is_below = [&](const std::string& other) { return other.rfind(above, 0) == 0; };
    if (std::none_of(keywords.begin(), keywords.end(), is_below)) kept.push_back(one);
  }
  return kept;
}

/// Returns the requested level of a keyword; empty: it has none.
std::string level_in(const std::string& keyword, const KeywordChoice& choice) {
  if (!choice.parent.empty()) {
    const std::string above = choice.parent + kBetweenLevels;
    if (keyword.rfind(above, 0) != 0) return "";
    return std::string(split_at(std::string_view(keyword).substr(above.size()), kBetweenLevels).front());
  }
  const std::vector<std::string_view> levels = split_at(keyword, kBetweenLevels);
  if (choice.level > levels.size()) return "";
  return std::string(choice.level == 0 ? levels.back() : levels[choice.level - 1]);
}

/// Photos that are left out, and why.
struct LeftOut {
  int64_t without = 0, several = 0, unreadable = 0;
  std::string first_several, first_unreadable;

  [[nodiscard]] int64_t total() const { return without + several + unreadable; }
  [[nodiscard]] std::string describe() const {
    std::vector<std::string> parts;
    if (without > 0) parts.push_back(fmt::format("{} without one", without));
    if (several > 0) parts.push_back(fmt::format("{} with several, such as {}", several, first_several));
    if (unreadable > 0)
      parts.push_back(fmt::format("{} with keywords that cannot be read, such as {}", unreadable, first_unreadable));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
};

/// Throws Error that names the photo if no class can have that name.
std::string checked_name(const std::string& name, const fs::path& photo) {
  try {
    return checked_class_name(name);
  } catch (const Error& error) {
    fail("{}: {}", photo.string(), error.what());
  }
}

/// Returns the class of a photo; empty: it is left out.
std::string class_of(const fs::path& photo, const KeywordChoice& choice, LeftOut& left_out) {
  try {
    const std::vector<std::string> classes = classes_of(keywords_of(photo), choice);
    if (classes.size() == 1) return checked_name(classes.front(), photo);
    if (classes.empty()) {
      ++left_out.without;
    } else if (left_out.several++ == 0) {
      left_out.first_several = fmt::format("{}: '{}' and '{}'", photo.string(), classes[0], classes[1]);
    }
  } catch (const Error& error) {
    if (left_out.unreadable++ == 0) left_out.first_unreadable = error.what();
  }
  return "";
}

}  // namespace

std::vector<fs::path> find_sidecars(const fs::path& photo) {
  std::vector<fs::path> found;
  for (const char* suffix : {".xmp", ".XMP"}) {
    for (const fs::path& path : {fs::path(photo.string() + suffix), fs::path(photo).replace_extension(suffix)}) {
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) found.push_back(path);
    }
  }
  return found;
}

XmpKeywords keywords_of(const fs::path& photo) {
  XmpKeywords all;
  for (const fs::path& sidecar : find_sidecars(photo))
    add_checked(keywords_in(read_file(sidecar), sidecar), sidecar, all);
  const std::string bytes = read_file(photo);
  if (const std::string packet = packet_in(bytes); !packet.empty()) add_checked(keywords_in(packet, photo), photo, all);
  add_checked({iptc_keywords(bytes), {}}, photo, all);
  return all;
}

KeywordChoice parse_keyword_choice(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  if (text.substr(0, colon) != kClassesFrom)
    fail_usage("unknown source of classes '{}': expected keywords, keywords:LEVEL or keywords:PARENT",
               excerpt(std::string(text)));
  if (colon == text.size()) return {};
  const std::string_view value = text.substr(colon + 1);
  KeywordChoice choice;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), choice.level);
  if (error == std::errc() && end == value.data() + value.size() && choice.level > 0) return choice;
  if (value.empty() || value.find_first_not_of("0123456789-") == std::string_view::npos)
    fail_usage("classes from keywords: level '{}', expected a number from 1 on", excerpt(std::string(value)));
  return {std::string(value), 0};
}

std::vector<std::string> classes_of(const XmpKeywords& keywords, const KeywordChoice& choice) {
  const bool by_level = choice.level > 0 || !choice.parent.empty();
  std::vector<std::string> classes;
  for (const std::string& keyword : deepest(keywords.hierarchical)) {
    const std::string name = clean_name(level_in(keyword, choice));
    if (!name.empty()) add({name}, classes);
  }
  if (by_level || !classes.empty()) return classes;
  for (const std::string& keyword : keywords.plain) {
    const std::string name = clean_name(keyword);
    if (!name.empty()) add({name}, classes);
  }
  return classes;
}

std::vector<ListedImage> list_by_keywords(const fs::path& folder, const KeywordChoice& choice) {
  WalkedFolder walked = walk_folder(folder, fs::directory_options::none);
  if (walked.error) fail("cannot list the folder {}: {}", folder.string(), walked.error.message());
  std::sort(walked.images.begin(), walked.images.end());
  std::vector<ListedImage> list;
  LeftOut left_out;
  for (const fs::path& photo : walked.images) {
    const std::string name = class_of(photo, choice, left_out);
    if (!name.empty()) list.push_back({photo.string(), name, photo.string()});
  }
  if (list.empty())
    fail("{}: no photo has a keyword that names its class (photos: {}){}", folder.string(),
         walked.images.empty() ? "none" : left_out.describe(),
         left_out.several > 0 ? "; name the level or the parent of the classes, such as keywords:Animals" : "");
  if (left_out.total() > 0)
    logger().warn("{}: ignoring photos whose keywords do not name one class: {}", folder.string(), left_out.describe());
  return list;
}

}  // namespace protocom
