#pragma once
#include <string>
#include <vector>

namespace protocom {

/// Whether two names are the same word as people type them: ignoring case, '_' or spaces, singular or plural
/// ("Webbed_Feet", "webbed foot"). Endings are detached as in WordNet (morphy(7WN)), in addition to irregular plurals
/// of parts of the body.
bool is_same_word(const std::string& a, const std::string& b);

/// Returns what is_same_word compares: the word in lower case, and the singulars that it may be the plural of.
std::vector<std::string> word_forms(const std::string& word);

}  // namespace protocom
