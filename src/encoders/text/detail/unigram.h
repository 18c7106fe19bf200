#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "encoders/text/detail/sentence_pieces.h"

namespace protocom::text {

/// Cuts a text into the pieces whose scores have the largest sum (Kudo, ACL 2018, https://arxiv.org/abs/1804.10959), as
/// sentencepiece does it, to its choice where sums are equal.
class Unigram {
 public:
  /// Throws Error if the model has no piece for what is unknown, or several.
  explicit Unigram(const SentencePieces& model);

  /// The numbers of the pieces of a text in UTF-8; what no piece covers is unknown, and several such parts in a row are
  /// one.
  [[nodiscard]] std::vector<int64_t> encode(std::string_view text) const;
  [[nodiscard]] int64_t unknown() const { return unknown_; }

 private:
  /// The text as pieces are cut from it.
  [[nodiscard]] std::string normalised(std::string_view text) const;
  /// What the beginning of a text becomes, and how many bytes that is.
  [[nodiscard]] std::pair<std::string_view, size_t> normalised_part(std::string_view text) const;

  CharacterMap characters_;
  PieceTable pieces_;
  PieceTable as_written_;  // which the map of characters leaves alone
  std::vector<SentencePieces::Piece> all_;
  bool adds_space_, joins_spaces_, marks_spaces_;
  int64_t unknown_ = -1;
  float unknown_score_ = 0;
  float largest_score_ = 0;
};

}  // namespace protocom::text
