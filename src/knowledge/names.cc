#include "knowledge/names.h"

#include <algorithm>
#include <cctype>

namespace protocom {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || (c & 0x80) != 0; }

/// Removes a leading number: "001.Laysan" and "017_cat" have one; "4_wheel_drive" and "3-toed sloth" do not.
std::string_view without_number(std::string_view name) {
  size_t digits = 0;
  while (digits < name.size() && is_digit(name[digits])) ++digits;
  if (digits == 0 || digits + 1 >= name.size()) return name;
  const char next = name[digits];
  const bool numbered = next == '.' || (name[0] == '0' && (next == '_' || next == ' ' || next == '-'));
  return numbered ? name.substr(digits + 1) : name;
}

bool is_possessive(std::string_view name, size_t i) {
  return name[i] == '\'' && i > 0 && is_word(name[i - 1]) && i + 1 < name.size() && name[i + 1] == 's' &&
         (i + 2 == name.size() || !is_word(name[i + 2]));
}

bool begins_word(std::string_view name, size_t i) {
  return i >= 2 && is_upper(name[i]) && is_lower(name[i - 1]) && is_lower(name[i - 2]);
}

}  // namespace

std::string lemma_of_name(std::string_view name) {
  name = without_number(name);
  std::string lemma;
  bool separated = false;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool possessive = is_possessive(name, i);
    if (possessive || !is_word(name[i])) {
      separated = true;
      i += possessive ? 1 : 0;
      continue;
    }
    if (!lemma.empty() && (separated || begins_word(name, i))) lemma += '_';
    separated = false;
    lemma += name[i];
  }
  return lemma;
}

std::string title_of_name(std::string_view name) {
  std::string title = lemma_of_name(name);
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

}  // namespace protocom
