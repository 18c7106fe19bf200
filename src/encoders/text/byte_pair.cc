#include "encoders/text/detail/byte_pair.h"

#include <fmt/format.h>

#include <queue>
#include <tuple>

#include "base/error.h"
#include "base/json_text.h"
#include "encoders/text/detail/unicode.h"

namespace protocom::text {

Merges merges_of_json(const nlohmann::json& model) {
  const auto stated = model.find("merges");
  if (stated == model.end() || !stated->is_array()) fail("tokenizer.json: the model has no list 'merges'");
  Merges merges;
  merges.reserve(stated->size());
  for (const nlohmann::json& pair : *stated) {
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string()) {
      merges.emplace_back(pair[0].get_ref<const std::string&>(), pair[1].get_ref<const std::string&>());
      continue;
    }
    const std::string words = pair.is_string() ? pair.get<std::string>() : "";
    const size_t space = words.find(' ');
    if (space == std::string::npos)
      fail("tokenizer.json: merges has {}, expected two tokens", excerpt(json_text(pair)));
    merges.emplace_back(words.substr(0, space), words.substr(space + 1));
  }
  return merges;
}

BytePairs::BytePairs(Vocabulary vocabulary, const Merges& merges, LetterRules rules, const std::string& where)
    : vocabulary_(std::move(vocabulary)), rules_(std::move(rules)) {
  merges_.reserve(merges.size());
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const int64_t first = token_number(vocabulary_, left, where);
    const uint64_t key = key_of(first, token_number(vocabulary_, right, where));
    // For a repeated pair the last occurrence counts, as in `tokenizers`.
    merges_[key] = {static_cast<int64_t>(rank), token_number(vocabulary_, left + right, where)};
  }
  constexpr int kBytes = 256;
  for (int byte = 0; rules_.as_bytes && byte < kBytes; ++byte)
    bytes_.push_back(token_number(vocabulary_, fmt::format("<0x{:02X}>", byte), where));
}

template <typename Add>
void BytePairs::tokens_of(const std::string& letter, const Add& add) const {
  if (const auto found = vocabulary_.find(letter); found != vocabulary_.end()) {
    add(found->second);
  } else if (rules_.as_bytes) {
    for (const char byte : letter) add(bytes_[static_cast<unsigned char>(byte)]);
  } else if (rules_.unknown) {
    add(*rules_.unknown);
  }
}

std::vector<BytePairs::Symbol> BytePairs::symbols_of(std::u32string_view word) const {
  std::vector<Symbol> symbols;
  const auto add = [&symbols](int64_t token) {
    const auto place = static_cast<int64_t>(symbols.size());
    symbols.push_back({token, place - 1, place + 1});
  };
  for (size_t i = 0; i < word.size(); ++i) {
    std::string letter = utf8_of(word.substr(i, 1));
    if (i + 1 == word.size()) letter += rules_.end;
    tokens_of(letter, add);
  }
  if (!symbols.empty()) symbols.back().behind = -1;
  return symbols;
}

void BytePairs::encode(std::u32string_view word, std::vector<int64_t>& to) const {
  std::vector<Symbol> symbols = symbols_of(word);
  using Candidate = std::tuple<int64_t, int64_t, int64_t, int64_t>;  // rank, position, the two tokens
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto offer = [&](int64_t place) {
    if (place < 0) return;
    const Symbol& left = symbols[static_cast<size_t>(place)];
    if (left.behind < 0) return;
    const int64_t right = symbols[static_cast<size_t>(left.behind)].token;
    const auto found = merges_.find(key_of(left.token, right));
    if (found != merges_.end()) candidates.emplace(found->second.rank, place, left.token, right);
  };
  for (size_t i = 0; i < symbols.size(); ++i) offer(static_cast<int64_t>(i));
  constexpr int64_t kGone = -1;
  while (!candidates.empty()) {
    const auto [rank, place, left_token, right_token] = candidates.top();
    candidates.pop();
    Symbol& left = symbols[static_cast<size_t>(place)];
    if (left.token != left_token || left.behind < 0) continue;
    Symbol& right = symbols[static_cast<size_t>(left.behind)];
    if (right.token != right_token) continue;  // one of the two has been merged meanwhile
    left.token = merges_.at(key_of(left_token, right_token)).made;
    right.token = kGone;
    left.behind = right.behind;
    if (left.behind >= 0) symbols[static_cast<size_t>(left.behind)].before = place;
    offer(left.before);
    offer(place);
  }
  for (const Symbol& symbol : symbols) {
    if (symbol.token != kGone) to.push_back(symbol.token);
  }
}

}  // namespace protocom::text
