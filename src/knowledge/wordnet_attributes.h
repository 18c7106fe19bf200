#pragma once
#include <map>
#include <string>
#include <vector>

#include "knowledge/attribute_table.h"
#include "knowledge/wordnet.h"

namespace protocom {

/// How classes are found in WordNet, and which relations count as their attributes.
struct WordNetAttributesOptions {
  std::vector<Meronym> relations = {Meronym::kPart};  ///< section 4.1: part meronyms
  /// Class -> a name for WordNet::resolve, for classes whose names are not wnids. A class that is neither a wnid nor
  /// named here is looked up as a lemma ("golden retriever"), see choose_synset.
  std::map<std::string, std::string> class_synsets;
};

/// Returns the classes' attributes, one column per synset (wnids, ascending), with their hypernyms as context. Classes
/// missing from WordNet get zero rows and are listed in `source["classes_unknown"]`; classes whose names are not wnids,
/// in `source["synsets"]`. Throws Error if WordNet has none of the classes, an entry of `class_synsets` does not
/// resolve, or the classes do not decide between the senses of some (all of those are named, and their candidates
/// logged).
AttributeTable wordnet_attributes(const WordNet& wordnet, const std::vector<std::string>& classes,
                                  const WordNetAttributesOptions& options = {});

/// Reads `class_synsets` from a CSV with the columns class,synset. Throws Error (file and line) for a class named
/// twice.
std::map<std::string, std::string> read_class_synsets(const std::filesystem::path& path);

}  // namespace protocom
