#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace protocom {

/// A value of an enumeration and its name in options and files. A constant array of these with every value, in the
/// order in which messages list them, is the only table of the enumeration; word_of and value_of convert in both
/// directions.
template <typename Enum>
struct EnumWord {
  Enum value;
  std::string_view word;
};

/// Throws UsageError: "unknown layout 'cup': expected auto, folder or cub".
[[noreturn]] void fail_unknown_word(std::string_view what, std::string_view word,
                                    const std::vector<std::string_view>& known);

/// Returns the name of a value in the table, which must have one.
template <typename Enum, size_t N>
constexpr std::string_view word_of(const EnumWord<Enum> (&table)[N], Enum value) {
  for (const EnumWord<Enum>& entry : table) {
    if (entry.value == value) return entry.word;
  }
  detail::check_failed("the table of an enumeration names every value", __FILE__, __LINE__);
}

/// Returns the value with this name in the table, case-sensitively. Throws UsageError for anything else; `what` names
/// the enumeration in its message.
template <typename Enum, size_t N>
Enum value_of(const EnumWord<Enum> (&table)[N], std::string_view word, std::string_view what) {
  std::vector<std::string_view> known;
  for (const EnumWord<Enum>& entry : table) {
    if (entry.word == word) return entry.value;
    known.push_back(entry.word);
  }
  fail_unknown_word(what, word, known);
}

}  // namespace protocom
