#include "nn/text/byte_pair.h"

#include <queue>
#include <tuple>

#include "nn/text/unicode.h"
#include "protocom/core/error.h"

namespace protocom::text {

BytePairs::BytePairs(Vocabulary vocabulary, const std::vector<std::pair<std::string, std::string>>& merges,
                     std::string end, std::optional<int64_t> unknown, const std::string& where)
    : vocabulary_(std::move(vocabulary)), end_(std::move(end)), unknown_(unknown) {
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const auto& [left, right] = merges[rank];
    const int64_t first = number_of(vocabulary_, left, where);
    const uint64_t key = key_of(first, number_of(vocabulary_, right, where));
    // A pair that is there twice counts as it does the last time, as in `tokenizers`.
    merges_[key] = {static_cast<int64_t>(rank), number_of(vocabulary_, left + right, where)};
  }
}

std::vector<BytePairs::Symbol> BytePairs::symbols_of(std::u32string_view word) const {
  std::vector<Symbol> symbols;
  for (size_t i = 0; i < word.size(); ++i) {
    std::string letter = utf8_of(word.substr(i, 1));
    if (i + 1 == word.size()) letter += end_;
    const auto found = vocabulary_.find(letter);
    if (found == vocabulary_.end() && !unknown_) continue;
    const auto place = static_cast<int64_t>(symbols.size());
    symbols.push_back({found == vocabulary_.end() ? *unknown_ : found->second, place - 1, place + 1});
  }
  if (!symbols.empty()) symbols.back().behind = -1;
  return symbols;
}

void BytePairs::encode(std::u32string_view word, std::vector<int64_t>& to) const {
  std::vector<Symbol> symbols = symbols_of(word);
  using Candidate = std::tuple<int64_t, int64_t, int64_t, int64_t>;  // rank, place, the two tokens
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
    if (right.token != right_token) continue;  // one of the two has become part of another pair meanwhile
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
