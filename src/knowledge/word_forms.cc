#include "knowledge/detail/word_forms.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace protocom {
namespace {

/// Endings of a plural, and of the singular that it may have: all that match are tried.
constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
    {"s", ""},    {"ies", "y"}, {"ches", "ch"}, {"shes", "sh"}, {"ses", "s"},  {"xes", "x"},
    {"zes", "z"}, {"ves", "f"}, {"ves", "fe"},  {"ae", "a"},    {"men", "man"}};

/// Whole last words.
constexpr std::pair<std::string_view, std::string_view> kIrregular[] = {
    {"feet", "foot"}, {"teeth", "tooth"}, {"geese", "goose"}, {"mice", "mouse"}, {"children", "child"}, {"oxen", "ox"}};

std::string plain(const std::string& text) {
  std::string word = lowercase(trimmed(text));
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

std::string with_ending(const std::string& word, size_t old, std::string_view ending) {
  return word.substr(0, word.size() - old).append(ending);
}

/// Returns the singulars that a word may be the plural of, and the word itself.
std::vector<std::string> singular_forms(const std::string& word) {
  std::vector<std::string> forms = {word};
  for (const auto& [plural, singular] : kEndings) {
    const bool is_more = word.size() > plural.size() + 1 && !ends_with(word, "ss");
    if (is_more && ends_with(word, plural)) forms.push_back(with_ending(word, plural.size(), singular));
  }
  const std::string last = word.substr(word.find_last_of(' ') + 1);
  for (const auto& [plural, singular] : kIrregular) {
    if (last == plural) forms.push_back(with_ending(word, plural.size(), singular));
  }
  return forms;
}

}  // namespace

std::vector<std::string> word_forms(const std::string& word) { return singular_forms(plain(word)); }

bool is_same_word(const std::string& a, const std::string& b) {
  const std::vector<std::string> ours = word_forms(a);
  const std::vector<std::string> theirs = word_forms(b);
  return std::find_first_of(ours.begin(), ours.end(), theirs.begin(), theirs.end()) != ours.end();
}

}  // namespace protocom
