#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "encoders/text/detail/sentence_pieces.h"

namespace protocom::text {

/// Splits a text into the pieces whose scores have the largest sum (Kudo, ACL 2018, https://arxiv.org/abs/1804.10959),
/// with the same choice between equal sums as sentencepiece.
class Unigram {
 public:
  /// Throws Error if the model has no unknown piece, or several.
  explicit Unigram(const SentencePieces& model);

  /// Returns the numbers of the pieces of a text in UTF-8; text not covered by pieces is unknown, and adjacent unknown
  /// parts are merged.
  [[nodiscard]] std::vector<int64_t> encode(std::string_view text) const;
  [[nodiscard]] int64_t unknown() const { return unknown_; }

 private:
  /// Returns the normalised text from which pieces are cut.
  [[nodiscard]] std::string normalised(std::string_view text) const;
  /// Returns the replacement of the beginning of a text, and its number of bytes there.
  [[nodiscard]] std::pair<std::string_view, size_t> normalised_part(std::string_view text) const;

  CharacterMap characters_;
  PieceTable pieces_;
  PieceTable as_written_;  // pieces that the map of characters does not change
  std::vector<SentencePieces::Piece> all_;
  bool adds_space_, joins_spaces_, marks_spaces_;
  int64_t unknown_ = -1;
  float unknown_score_ = 0;
  float largest_score_ = 0;
};

}  // namespace protocom::text
