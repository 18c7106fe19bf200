#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "encoders/text/detail/tokenizer.h"

namespace protocom::text {

/// Pairs of tokens in the order in which they were learned.
using Merges = std::vector<std::pair<std::string, std::string>>;

/// Those of a model in tokenizer.json: ["left right", ...] or [["left", "right"], ...]. Throws Error.
Merges merges_of_json(const nlohmann::json& model);

/// How letters become the first tokens of a word.
struct LetterRules {
  std::string end;                 ///< stands behind the last letter of a word
  std::optional<int64_t> unknown;  ///< a letter without a token of its own; nothing: it is left out
  bool as_bytes = false;           ///< or it is the tokens <0x00> to <0xFF> of its bytes in UTF-8
};

/// Byte-pair encoding (Sennrich et al., ACL 2016): the letters of a word are joined pair by pair, the pair that was
/// learned first before the others, the left one of equal pairs first.
class BytePairs {
 public:
  /// Throws Error that names `where` for a pair of which a part, or what it becomes, is not a token, and for a byte
  /// without one where letters are written as bytes.
  BytePairs(Vocabulary vocabulary, const Merges& merges, LetterRules rules, const std::string& where);

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
  /// Calls `add` with the tokens of a letter.
  template <typename Add>
  void tokens_of(const std::string& letter, const Add& add) const;
  [[nodiscard]] std::vector<Symbol> symbols_of(std::u32string_view word) const;

  Vocabulary vocabulary_;
  std::unordered_map<uint64_t, Merge> merges_;
  LetterRules rules_;
  std::vector<int64_t> bytes_;  // their tokens
};

}  // namespace protocom::text
