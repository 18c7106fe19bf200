#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace protocom::text {

/// The longest piece or token of a vocabulary, in bytes.
inline constexpr size_t kLongestPiece = 1024;

/// The role of a piece in sentencepiece's vocabulary.
enum class PieceKind { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

/// The content of a unigram model file of sentencepiece (ModelProto, https://github.com/google/sentencepiece).
struct SentencePieces {
  struct Piece {
    std::string text;
    float score = 0;  ///< log probability
    PieceKind kind = PieceKind::kNormal;
  };
  std::vector<Piece> pieces;  ///< indexed by token number
  std::string character_map;  ///< for CharacterMap; empty: none
  bool adds_space = true;     ///< before a text
  bool joins_spaces = true;   ///< spaces at the ends are dropped, repeated ones merged
  bool marks_spaces = true;   ///< as U+2581, at the beginning of pieces
};

/// Parses such a file. Throws Error for anything else, for a model of another kind (byte pairs), and for pieces that
/// are empty, repeated or longer than any word.
SentencePieces read_sentence_pieces(std::string_view bytes);

/// Replacements in a text before it is split into pieces: compatibility forms, signs with several encodings. A double
/// array (Aoe, IEEE TSE 1989; as packed by darts-clone), whose values are offsets into a list of zero-terminated texts.
class CharacterMap {
 public:
  /// Throws Error for a map whose parts do not fit into it.
  explicit CharacterMap(std::string bytes);
  /// Returns the replacement of the longest mapped prefix of a text, and the prefix's number of bytes, at most
  /// kLongestPiece; nothing if there is none. Throws Error if the map leads out of itself, and if a replacement has
  /// more than 32 times the bytes.
  [[nodiscard]] std::optional<std::pair<std::string_view, size_t>> find(std::string_view text) const;

 private:
  [[nodiscard]] std::optional<uint32_t> unit(size_t place) const;
  [[nodiscard]] std::string_view text_at(size_t place) const;

  std::string bytes_;
  size_t units_ = 0;
};

/// Pieces by their text.
class PieceTable {
 public:
  PieceTable() = default;
  /// Takes pieces and their numbers; for equal pieces the smallest number counts.
  explicit PieceTable(std::vector<std::pair<std::string, int64_t>> pieces);
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  /// Calls `found` with the size and number of each piece that is a prefix of a text, shortest first.
  template <typename Found>
  void find(std::string_view text, const Found& found) const {
    size_t begin = 0, end = pieces_.size();
    for (size_t size = 1; size <= text.size(); ++size) {
      narrow(size - 1, text[size - 1], begin, end);
      if (begin == end) return;
      if (pieces_[begin].first.size() == size) found(size, pieces_[begin].second);
    }
  }

 private:
  /// Narrows a range of pieces with a common prefix to those with this byte at a position.
  void narrow(size_t place, char byte, size_t& begin, size_t& end) const;

  std::vector<std::pair<std::string, int64_t>> pieces_;  // sorted by bytes
};

}  // namespace protocom::text
