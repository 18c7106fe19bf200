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

/// Returns the pairs of a model in tokenizer.json: ["left right", ...] or [["left", "right"], ...]. Throws Error.
Merges merges_of_json(const nlohmann::json& model);

/// How letters become the initial tokens of a word.
struct LetterRules {
  std::string end;                 ///< suffix of the last letter of a word
  std::optional<int64_t> unknown;  ///< token for a letter without one; nothing: such a letter is dropped
  bool as_bytes = false;  ///< whether it is instead split into the tokens <0x00> to <0xFF> of its bytes in UTF-8
};

/// Byte-pair encoding (Sennrich et al., ACL 2016): merges the letters of a word pair by pair, the pair that was learned
/// first before others, the leftmost of equal pairs first.
class BytePairs {
 public:
  /// Throws Error that names `where` for a pair with a part, or a result, that is not a token, and for a missing byte
  /// token if letters are split into bytes.
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
    int64_t before, behind;  // positions; -1: none
  };
  /// Calls `add` with the tokens of a letter.
  template <typename Add>
  void tokens_of(const std::string& letter, const Add& add) const;
  [[nodiscard]] std::vector<Symbol> symbols_of(std::u32string_view word) const;

  Vocabulary vocabulary_;
  std::unordered_map<uint64_t, Merge> merges_;
  LetterRules rules_;
  std::vector<int64_t> bytes_;  // tokens of bytes
};

}  // namespace protocom::text
