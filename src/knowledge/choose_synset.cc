#include "knowledge/choose_synset.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace protocom {
namespace {

/// Returns one sense for a wnid or a numbered sense, otherwise all senses of a lemma.
std::vector<std::string> candidates_of(const WordNet& wordnet, const std::string& name) {
  const std::vector<std::string> senses = wordnet.senses(name);
  if (!wordnet.contains(name) && !senses.empty()) return senses;
  const auto item = wordnet.resolve(name);
  return item ? std::vector<std::string>{*item} : std::vector<std::string>{};
}

std::string described(const WordNet& wordnet, const std::string& wnid) {
  const Synset synset = wordnet.synset(wnid);
  return fmt::format("{} ({}: {})", wnid, title(synset), synset.gloss);
}

/// Below this margin the kin do not decide.
constexpr double kMargin = 0.5;

}  // namespace

Kinship::Kinship(const WordNet& wordnet, const std::vector<std::string>& names) : wordnet_(wordnet) {
  for (const std::string& name : names) {
    std::set<std::string> above;
    const auto senses = candidates_of(wordnet, name);
    for (const std::string& wnid : senses) {
      above.insert(wnid);
      for (std::string& ancestor : wordnet.ancestors(wnid)) above.insert(std::move(ancestor));
    }
    if (!senses.empty()) ++known_;
    names_.insert(name);
    for (const std::string& ancestor : above) share_[ancestor] += 1;
  }
  for (auto& entry : share_) entry.second /= std::max(known_, 1.0);
}

double Kinship::with(const std::string& wnid, const std::string& name) const {
  const double own = names_.count(name) > 0 ? 1 / std::max(known_, 1.0) : 0;
  double sum = 0;
  for (const std::string& ancestor : wordnet_.ancestors(wnid)) {
    const auto found = share_.find(ancestor);
    if (found != share_.end()) sum += found->second - own;
  }
  return sum;
}

SynsetChoice consider_synset(const WordNet& wordnet, const std::string& name, const Kinship& kin) {
  std::vector<std::string> senses = candidates_of(wordnet, name);
  if (senses.empty()) return {};
  if (senses.size() == 1) return {senses.front(), ""};
  std::vector<std::pair<double, std::string>> ranked;
  for (std::string& wnid : senses) ranked.emplace_back(kin.with(wnid, name), std::move(wnid));
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  const std::string& best = ranked.front().second;
  if (ranked[0].first >= ranked[1].first + kMargin) {
    logger().info("'{}' resolved to {}: of its {} senses it shares most with the other classes", name,
                  described(wordnet, best), ranked.size());
    return {best, ""};
  }
  std::vector<std::string> texts;
  for (const auto& item : ranked) texts.push_back(described(wordnet, item.second));
  return {
      std::nullopt,
      fmt::format(
          "'{}' has {} senses in WordNet and the other classes do not decide between them; name one by its wnid: {}",
          name, texts.size(), fmt::join(texts, "; "))};
}

std::optional<std::string> choose_synset(const WordNet& wordnet, const std::string& name, const Kinship& kin) {
  SynsetChoice choice = consider_synset(wordnet, name, kin);
  if (!choice.doubt.empty()) fail("{}", choice.doubt);
  return choice.wnid;
}

}  // namespace protocom
