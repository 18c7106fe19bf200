#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nn/text/tokenizer.h"

namespace protocom::text {

/// Byte-pair encoding (Sennrich et al., ACL 2016): the letters of a word are joined pair by pair, the pair that was
/// learned first before the others, the left one of equal pairs first.
class BytePairs {
 public:
  /// `merges`: pairs of tokens in the order in which they were learned. `end` stands behind the last letter of a word.
  /// A letter without a token of its own is `unknown`; nothing: it is left out. Throws Error that names `where` for a
  /// pair of which a part, or what it becomes, is no token.
  BytePairs(Vocabulary vocabulary, const std::vector<std::pair<std::string, std::string>>& merges, std::string end,
            std::optional<int64_t> unknown, const std::string& where);

  /// Appends the tokens of a word. O(n log n) in its letters.
  void encode(std::u32string_view word, std::vector<int64_t>& to) const;

 private:
  struct Merge {
    int64_t rank, made;
  };
  static uint64_t key_of(int64_t left, int64_t right) {
    return static_cast<uint64_t>(left) << 32U | static_cast<uint64_t>(right);  // vocabulary_of: below 2^31
  }
  struct Symbol {
    int64_t token;
    int64_t before, behind;  // places; -1: none
  };
  [[nodiscard]] std::vector<Symbol> symbols_of(std::u32string_view word) const;

  Vocabulary vocabulary_;
  std::unordered_map<uint64_t, Merge> merges_;
  std::string end_;
  std::optional<int64_t> unknown_;
};

}  // namespace protocom::text
