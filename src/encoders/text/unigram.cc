#include "encoders/text/detail/unigram.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace protocom::text {
namespace {

constexpr std::string_view kSpaceMark = "\u2581";

/// Returns the number of bytes of the first letter of a text.
size_t letter_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const size_t size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  return std::min(size, text.size());
}

/// The best path to a position of the text: its last piece, the beginning of that, and the sum of scores, in float32 as
/// in sentencepiece: rounding decides between equal paths.
struct BestPath {
  int64_t piece = -1;
  size_t begin = 0;
  float sum = 0;
  bool found = false;
};

void relax(BestPath& path, int64_t piece, size_t begin, float sum) {
  if (path.found && sum <= path.sum) return;
  path = {piece, begin, sum, true};
}

}  // namespace

Unigram::Unigram(const SentencePieces& model)
    : characters_(model.character_map),
      all_(model.pieces),
      adds_space_(model.adds_space),
      joins_spaces_(model.joins_spaces),
      marks_spaces_(model.marks_spaces) {
  std::vector<std::pair<std::string, int64_t>> pieces, as_written;
  std::vector<float> scores;
  for (size_t i = 0; i < all_.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    const SentencePieces::Piece& piece = all_[i];
    if (piece.kind == PieceKind::kUnknown) {
      if (unknown_ >= 0) fail("more than one piece of the type 'unknown'");
      unknown_ = number;
    }
    if (piece.kind == PieceKind::kNormal) scores.push_back(piece.score);
    if (piece.kind == PieceKind::kNormal || piece.kind == PieceKind::kUserDefined)
      pieces.emplace_back(piece.text, number);
    if (piece.kind == PieceKind::kUserDefined) as_written.emplace_back(piece.text, number);
  }
  if (unknown_ < 0) fail("no piece of the type 'unknown'");
  if (scores.empty()) fail("no piece of the type 'normal'");
  pieces_ = PieceTable(std::move(pieces));
  as_written_ = PieceTable(std::move(as_written));
  constexpr float kPenalty = 10;
  const auto [smallest, largest] = std::minmax_element(scores.begin(), scores.end());
  unknown_score_ = *smallest - kPenalty;
  largest_score_ = *largest;
}

std::pair<std::string_view, size_t> Unigram::normalised_part(std::string_view text) const {
  size_t written = 0;
  if (!as_written_.empty()) as_written_.find(text, [&written](size_t size, int64_t) { written = size; });
  if (written > 0) return {text.substr(0, written), written};
  if (const auto found = characters_.find(text)) return *found;
  const size_t size = letter_size(text);
  return {text.substr(0, size), size};
}

std::string Unigram::normalised(std::string_view text) const {
  const std::string_view space = marks_spaces_ ? kSpaceMark : " ";
  std::string made;
  bool behind_space = joins_spaces_;
  while (!text.empty()) {
    auto [part, used] = normalised_part(text);
    text.remove_prefix(used);
    while (behind_space && !part.empty() && part.front() == ' ') part.remove_prefix(1);
    if (part.empty()) continue;
    if (made.empty() && adds_space_) made = space;
    for (const char byte : part) {
      if (byte == ' ')
        made += space;
      else
        made += byte;
    }
    behind_space = joins_spaces_ && part.back() == ' ';
  }
  while (joins_spaces_ && ends_with(made, space)) made.resize(made.size() - space.size());
  return made;
}

std::vector<int64_t> Unigram::encode(std::string_view given) const {
  const std::string text = normalised(given);
  std::vector<BestPath> paths(text.size() + 1);
  for (size_t begin = 0; begin < text.size();) {
    const std::string_view rest = std::string_view(text).substr(begin);
    const size_t letter = letter_size(rest);
    const float sum = paths[begin].sum;
    bool letter_is_known = false;
    pieces_.find(rest, [&](size_t size, int64_t piece) {
      const SentencePieces::Piece& own = all_[static_cast<size_t>(piece)];
      constexpr float kJustBelow = 0.1F;  // a user-defined piece counts as its bytes at the best score
      const float score =
          own.kind == PieceKind::kUserDefined ? static_cast<float>(size) * largest_score_ - kJustBelow : own.score;
      relax(paths[begin + size], piece, begin, sum + score);
      letter_is_known |= size == letter;
    });
    if (!letter_is_known) relax(paths[begin + letter], unknown_, begin, sum + unknown_score_);
    begin += letter;
  }
  std::vector<int64_t> pieces;
  for (size_t end = text.size(); end > 0; end = paths[end].begin) {
    const int64_t piece = paths[end].piece;
    if (piece != unknown_ || pieces.empty() || pieces.back() != unknown_) pieces.push_back(piece);
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

}  // namespace protocom::text
