#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "knowledge/wordnet.h"

namespace protocom {

/// What some classes have in common in WordNet: for every hypernym of theirs the share of the classes that have it.
/// Classes of several senses count with all of them.
class Kinship {
 public:
  /// `names` are wnids, senses or lemmas; those that WordNet does not have count for nothing.
  Kinship(const WordNet& wordnet, const std::vector<std::string>& names);

  /// How many hypernyms a sense of `name` shares with a class of them, on average, other than `name` itself.
  [[nodiscard]] double with(const std::string& wnid, const std::string& name) const;

 private:
  const WordNet& wordnet_;
  std::map<std::string, double> share_;
  std::set<std::string> names_;
  double known_ = 0;
};

/// The synset of a name, or nothing if WordNet does not have it or the kin do not decide.
struct SynsetChoice {
  std::optional<std::string> wnid;
  std::string doubt;  ///< where the kin do not decide: a sentence with the candidates and their glosses
};

/// choose_synset for a caller who has more names to ask for.
SynsetChoice consider_synset(const WordNet& wordnet, const std::string& name, const Kinship& kin);

/// The synset that a wnid ("n02084071"), a sense ("dog.n.01") or a lemma with one sense stands for; of a lemma with
/// several the one that shares at least half a hypernym more with the kin than any other, which is logged. Nothing when
/// WordNet does not have the name. Throws Error when the kin do not decide, with the candidates and their glosses.
std::optional<std::string> choose_synset(const WordNet& wordnet, const std::string& name, const Kinship& kin);

}  // namespace protocom
