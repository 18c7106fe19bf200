#include "encoders/text/detail/sentence_pieces.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "encoders/protobuf.h"

namespace protocom::text {
namespace {

constexpr size_t kMostGrowth = 32;  // of a part by the character map; Unicode's compatibility forms: 11

SentencePieces::Piece read_piece(protozero::pbf_reader from) {
  constexpr protozero::pbf_tag_type kText = 1, kScore = 2, kKind = 3;
  SentencePieces::Piece piece;
  read_fields(from, Field{kText, [&] { piece.text = read_text(from); }},
              Field{kScore, [&] { piece.score = read_float(from); }},
              Field{kKind, [&] { piece.kind = static_cast<PieceKind>(read_integer(from)); }});
  return piece;
}

/// Refuses settings that would split texts differently.
void check_training(protozero::pbf_reader from) {
  constexpr protozero::pbf_tag_type kModelType = 3, kSpacesBehind = 24, kByteFallback = 35;
  constexpr int64_t kUnigram = 1;
  const auto check_type = [&](int64_t type) {
    if (type != kUnigram) fail("model_type {} is not supported, expected unigram ({})", type, kUnigram);
  };
  const auto refuse = [](bool is_so, const char* what) {
    if (is_so) fail("{} is not supported", what);
  };
  read_fields(from, Field{kModelType, [&] { check_type(read_integer(from)); }},
              Field{kSpacesBehind, [&] { refuse(read_integer(from) != 0, "treat_whitespace_as_suffix=true"); }},
              Field{kByteFallback, [&] { refuse(read_integer(from) != 0, "byte_fallback=true"); }});
}

void read_normaliser(protozero::pbf_reader from, SentencePieces& to) {
  constexpr protozero::pbf_tag_type kMap = 2, kAddsSpace = 3, kJoinsSpaces = 4, kMarksSpaces = 5;
  read_fields(from, Field{kMap, [&] { to.character_map = read_text(from); }},
              Field{kAddsSpace, [&] { to.adds_space = read_integer(from) != 0; }},
              Field{kJoinsSpaces, [&] { to.joins_spaces = read_integer(from) != 0; }},
              Field{kMarksSpaces, [&] { to.marks_spaces = read_integer(from) != 0; }});
}

SentencePieces read_model(protozero::pbf_reader from) {
  constexpr protozero::pbf_tag_type kPiece = 1, kTraining = 2, kNormaliser = 3;
  SentencePieces read;
  read_fields(from, Field{kPiece, [&] { read.pieces.push_back(read_piece(read_message(from))); }},
              Field{kTraining, [&] { check_training(read_message(from)); }},
              Field{kNormaliser, [&] { read_normaliser(read_message(from), read); }});
  return read;
}

void check_pieces(const SentencePieces& read) {
  std::vector<std::string_view> texts;
  for (const SentencePieces::Piece& piece : read.pieces) {
    if (piece.text.empty() || piece.text.size() > kLongestPiece)
      fail("piece {} has {} bytes, expected 1 to {}", texts.size(), piece.text.size(), kLongestPiece);
    if (!std::isfinite(piece.score)) fail("the score of the piece '{}' is not finite", excerpt(piece.text));
    texts.push_back(piece.text);
  }
  std::sort(texts.begin(), texts.end());
  const auto twice = std::adjacent_find(texts.begin(), texts.end());
  if (twice != texts.end()) fail("duplicate piece '{}'", excerpt(*twice));
  if (texts.empty()) fail("missing pieces");
}

}  // namespace

SentencePieces read_sentence_pieces(std::string_view bytes) {
  try {
    SentencePieces read = read_model(protozero::pbf_reader(bytes.data(), bytes.size()));
    check_pieces(read);
    return read;
  } catch (const protozero::exception& error) {
    fail("expected a model of sentencepiece: {}", reason_of(error));
  }
}

CharacterMap::CharacterMap(std::string bytes) : bytes_(std::move(bytes)) {
  if (bytes_.empty()) return;
  const auto byte = [this](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes_[i])); };
  constexpr size_t kHead = 4;
  if (bytes_.size() <= kHead) fail("character map: {} bytes are too few", bytes_.size());
  const size_t size = byte(0) | byte(1) << 8U | byte(2) << 16U | byte(3) << 24U;
  if (size % sizeof(uint32_t) != 0 || size > bytes_.size() - kHead || bytes_.back() != '\0')
    fail("character map: size {} is out of range for {} bytes", size, bytes_.size());
  bytes_.erase(0, kHead);
  units_ = size / sizeof(uint32_t);
}

std::optional<uint32_t> CharacterMap::unit(size_t place) const {
  if (place >= units_) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = sizeof(value); i > 0; --i)
    value = value << 8U | static_cast<unsigned char>(bytes_[place * sizeof(value) + i - 1]);
  return value;
}

std::string_view CharacterMap::text_at(size_t place) const {
  const std::string_view texts = std::string_view(bytes_).substr(units_ * sizeof(uint32_t));
  if (place >= texts.size()) fail("character map: offset out of range");
  const std::string_view text = texts.substr(place, texts.find('\0', place) - place);
  return text;
}

std::optional<std::pair<std::string_view, size_t>> CharacterMap::find(std::string_view text) const {
  constexpr uint32_t kLeaf = 1U << 8U, kFar = 1U << 9U, kValue = (1U << 31U) - 1, kLabel = 1U << 31U | 0xFFU;
  // The children of a unit are at that offset from it.
  const auto offset = [](uint32_t unit) { return static_cast<size_t>(unit >> 10U) << ((unit & kFar) >> 6U); };
  std::optional<uint32_t> at = unit(0);
  if (!at) return std::nullopt;
  size_t place = offset(*at);
  std::optional<std::pair<uint32_t, size_t>> longest;
  for (size_t i = 0; i < std::min(text.size(), kLongestPiece); ++i) {  // a crafted map may be circular
    const auto byte = static_cast<unsigned char>(text[i]);
    place ^= byte;
    at = unit(place);
    if (!at || (*at & kLabel) != byte) break;
    place ^= offset(*at);
    if ((*at & kLeaf) == 0) continue;
    const std::optional<uint32_t> leaf = unit(place);
    if (!leaf) fail("character map: offset out of range");
    longest = {*leaf & kValue, i + 1};
  }
  if (!longest) return std::nullopt;
  const std::string_view made = text_at(longest->first);
  if (made.size() > kMostGrowth * longest->second)
    fail("character map: {} bytes become {}, expected at most {} times as many", longest->second, made.size(),
         kMostGrowth);
  return std::pair{made, longest->second};
}

PieceTable::PieceTable(std::vector<std::pair<std::string, int64_t>> pieces) : pieces_(std::move(pieces)) {
  std::sort(pieces_.begin(), pieces_.end());
}

void PieceTable::narrow(size_t place, char byte, size_t& begin, size_t& end) const {
  using Place = std::vector<std::pair<std::string, int64_t>>::difference_type;
  // In the order of strings: a piece that ends here comes first, then unsigned bytes.
  const auto at = [place](const std::string& piece) {
    return piece.size() > place ? static_cast<int>(static_cast<unsigned char>(piece[place])) : -1;
  };
  const auto wanted = static_cast<int>(static_cast<unsigned char>(byte));
  if (begin < end && at(pieces_[begin].first) == -1) ++begin;
  if (begin < end && at(pieces_[begin].first) == wanted && at(pieces_[end - 1].first) == wanted) return;  // all of them
  const auto first =
      std::lower_bound(pieces_.begin() + static_cast<Place>(begin), pieces_.begin() + static_cast<Place>(end), wanted,
                       [&](const auto& piece, int value) { return at(piece.first) < value; });
  const auto last = std::upper_bound(first, pieces_.begin() + static_cast<Place>(end), wanted,
                                     [&](int value, const auto& piece) { return value < at(piece.first); });
  begin = static_cast<size_t>(first - pieces_.begin());
  end = static_cast<size_t>(last - pieces_.begin());
}

}  // namespace protocom::text
