#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "knowledge/wordnet.h"

namespace protocom {

/// The common hypernyms of some classes in WordNet: for every hypernym the share of the classes that have it. Classes
/// with several senses count with all of them.
class Kinship {
 public:
  /// `names` are wnids, senses or lemmas; those missing from WordNet are ignored.
  Kinship(const WordNet& wordnet, const std::vector<std::string>& names);

  /// Returns how many hypernyms a sense of `name` shares with one of the classes, on average, excluding `name` itself.
  [[nodiscard]] double with(const std::string& wnid, const std::string& name) const;

 private:
  const WordNet& wordnet_;
  std::map<std::string, double> share_;
  std::set<std::string> names_;
  double known_ = 0;
};

/// The synset of a name, or nothing if it is missing from WordNet or the kin do not decide.
struct SynsetChoice {
  std::optional<std::string> wnid;
  std::string doubt;  ///< if the kin do not decide: a sentence with the candidates and their glosses
};

/// Does what choose_synset does, without throwing, for a caller with several names.
SynsetChoice consider_synset(const WordNet& wordnet, const std::string& name, const Kinship& kin);

/// Returns the synset of a wnid ("n02084071"), a sense ("dog.n.01") or a lemma with one sense; for a lemma with
/// several, the one that shares at least half a hypernym more with the kin than any other, which is logged. Nothing if
/// WordNet does not have the name. Throws Error if the kin do not decide, with the candidates and their glosses.
std::optional<std::string> choose_synset(const WordNet& wordnet, const std::string& name, const Kinship& kin);

}  // namespace protocom
