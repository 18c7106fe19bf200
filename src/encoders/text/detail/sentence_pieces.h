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

/// What a model of sentencepiece is for in a vocabulary.
enum class PieceKind { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

/// What a file of sentencepiece (ModelProto, https://github.com/google/sentencepiece) contains of a unigram model.
struct SentencePieces {
  struct Piece {
    std::string text;
    float score = 0;  ///< log probability
    PieceKind kind = PieceKind::kNormal;
  };
  std::vector<Piece> pieces;  ///< their places are their numbers
  std::string character_map;  ///< CharacterMap's; empty: none
  bool adds_space = true;     ///< in front of a text
  bool joins_spaces = true;   ///< those at the ends go, several become one
  bool marks_spaces = true;   ///< as U+2581, with which pieces begin
};

/// Throws Error for what is not such a model, for one of another kind (byte pairs), and for pieces that are empty,
/// there twice or longer than any word.
SentencePieces read_sentence_pieces(std::string_view bytes);

/// Which parts of a text become which others before it is cut into pieces: compatibility forms, signs that are written
/// in several ways. A double array (Aoe, IEEE TSE 1989; as darts-clone packs it), whose values are places in a list of
/// texts, each with a zero behind it.
class CharacterMap {
 public:
  /// Throws Error for a map whose parts do not fit into it.
  explicit CharacterMap(std::string bytes);
  /// What the longest part at the beginning of a text becomes, and how many bytes it has, at most kLongestPiece;
  /// nothing if there is none. Throws Error if the map leads out of itself, and if a part becomes more than 32 times
  /// its bytes.
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
  /// Pieces and their numbers; of equal pieces the one with the smallest number counts.
  explicit PieceTable(std::vector<std::pair<std::string, int64_t>> pieces);
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  /// Calls `found` with the size and number of each piece that stands at the beginning of a text, shortest first.
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
  /// Of pieces that begin alike those whose byte at a place is this one.
  void narrow(size_t place, char byte, size_t& begin, size_t& end) const;

  std::vector<std::pair<std::string, int64_t>> pieces_;  // in the order of their bytes
};

}  // namespace protocom::text
