#include "base/clean_name.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"

namespace protocom {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
}

/// utf8proc orders marks in quadratic time, and a cell of a table has up to 16 MiB.
constexpr size_t kLongestMapped = 1024;

/// Returns the text in another form; unchanged if it is not UTF-8, or longer than any name.
std::string mapped(std::string_view text, utf8proc_option_t form) {
  if (text.size() > kLongestMapped) return std::string(text);
  utf8proc_uint8_t* made = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &made, form);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(made, &std::free);
  return size < 0 ? std::string(text) : std::string(reinterpret_cast<const char*>(made), static_cast<size_t>(size));
}

/// Replaces U+00A0 (no-break), U+2000 to U+200A, U+202F (narrow), U+3000 (ideographic) and the like by spaces.
std::string with_plain_spaces(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    utf8proc_int32_t letter = 0;
    const auto used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &letter);
    const size_t size = used < 1 ? 1 : static_cast<size_t>(used);
    const bool blank = used > 0 && utf8proc_category(letter) == UTF8PROC_CATEGORY_ZS;
    blank ? plain.append(" ") : plain.append(text.substr(0, size));
    text.remove_prefix(size);
  }
  return plain;
}

std::string without_double_spaces(std::string_view text) {
  std::string single;
  for (const char c : text) {
    if (c != ' ' || single.empty() || single.back() != ' ') single.push_back(c);
  }
  return single;
}

/// Whether a text consists of spaces and characters that only control layout (U+200B, U+FEFF).
bool is_blank(std::string_view text) {
  while (!text.empty()) {
    utf8proc_int32_t letter = 0;
    const auto used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &letter);
    if (used < 1) return false;
    const utf8proc_category_t category = utf8proc_category(letter);
    if (category != UTF8PROC_CATEGORY_ZS && category != UTF8PROC_CATEGORY_CF) return false;
    text.remove_prefix(static_cast<size_t>(used));
  }
  return true;
}

}  // namespace

std::string clean_name(std::string_view name) {
  if (is_ascii(name)) return without_double_spaces(trimmed(name));
  return without_double_spaces(
      trimmed(with_plain_spaces(mapped(name, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE)))));
}

std::string checked_class_name(std::string_view written) {
  std::string name = clean_name(written);
  if (is_blank(name)) fail_usage("a class needs a name with visible characters");
  if (steers_terminals(name))
    fail_usage("the class name '{}' has control or text-direction characters: choose another", excerpt(name));
  return name;
}

std::string checked_new_class_name(std::string_view written) {
  std::string name = checked_class_name(written);
  if (without_capitals(name) == "none of these")
    fail_usage("no class can be called '{}': that is the answer for photos of none of the classes", name);
  return name;
}

std::string without_capitals(std::string_view name) {
  return mapped(name, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD));
}

void warn_of_same_but_capitals(const std::vector<std::string>& names, std::string_view what) {
  std::map<std::string, std::string> first;
  std::vector<std::string> pairs;
  for (const std::string& name : names) {
    const auto [found, is_new] = first.emplace(without_capitals(name), name);
    if (!is_new && found->second != name)
      pairs.push_back(fmt::format("'{}' and '{}'", excerpt(found->second), excerpt(name)));
  }
  constexpr size_t kShown = 3;
  if (!pairs.empty()) logger().warn("{} differ only in capitals: {}", what, first_of(pairs, kShown));
}

}  // namespace protocom
