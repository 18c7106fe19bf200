#pragma once
#include <string>
#include <vector>

namespace protocom {

/// Whether two names are the same word as people type them: without case, with '_' or spaces, in the singular or the
/// plural ("Webbed_Feet", "webbed foot"). Endings are detached as WordNet does (morphy(7WN)), besides irregular plurals
/// of parts of the body.
bool is_same_word(const std::string& a, const std::string& b);

/// What is_same_word compares: the word in lower case, and the singulars that it may be the plural of.
std::vector<std::string> word_forms(const std::string& word);

}  // namespace protocom
