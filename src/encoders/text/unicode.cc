#include "encoders/text/detail/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/error.h"

namespace protocom::text {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

utf8proc_category_t category_of(char32_t letter) { return utf8proc_category(static_cast<utf8proc_int32_t>(letter)); }

int marks_class(utf8proc_int32_t letter) { return utf8proc_get_property(letter)->combining_class; }

/// Sorts adjacent marks by class. utf8proc does so by insertion, which takes quadratic time in the number of marks.
void order_marks(std::vector<utf8proc_int32_t>& letters) {
  for (auto begin = letters.begin(); begin != letters.end();) {
    if (marks_class(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, letters.end(), [](auto letter) { return marks_class(letter) == 0; });
    std::stable_sort(begin, end, [](auto a, auto b) { return marks_class(a) < marks_class(b); });
    begin = end;
  }
}

/// Returns Unicode's canonical decomposition, with marks in order.
std::vector<utf8proc_int32_t> decomposition(std::u32string_view letters) {
  constexpr auto kForm = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  constexpr size_t kMostParts = 8;  // of one letter; Unicode has at most four
  std::vector<utf8proc_int32_t> made;
  made.reserve(letters.size());
  for (const char32_t letter : letters) {
    std::array<utf8proc_int32_t, kMostParts> parts{};
    int boundary = 0;
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(letter), parts.data(), kMostParts, kForm, &boundary);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(kMostParts))
      fail("cannot normalise the character U+{:X}", static_cast<uint32_t>(letter));
    made.insert(made.end(), parts.begin(), parts.begin() + count);
  }
  order_marks(made);
  return made;
}

}  // namespace

std::u32string letters_of(std::string_view text) {
  std::u32string letters;
  letters.reserve(text.size());
  while (!text.empty()) {
    utf8proc_int32_t letter = 0;
    const auto used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &letter);
    letters.push_back(used < 1 ? kReplacement : static_cast<char32_t>(letter));
    text.remove_prefix(used < 1 ? 1 : static_cast<size_t>(used));
  }
  return letters;
}

std::string utf8_of(std::u32string_view letters) {
  std::string text;
  text.reserve(letters.size());
  constexpr size_t kMostBytes = 4;
  for (const char32_t letter : letters) {
    std::array<utf8proc_uint8_t, kMostBytes> bytes{};
    const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(letter), bytes.data());
    text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(size));
  }
  return text;
}

std::u32string composed(std::u32string_view letters) {
  constexpr auto kForm = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  std::vector<utf8proc_int32_t> parts = decomposition(letters);
  const auto size = utf8proc_normalize_utf32(parts.data(), static_cast<utf8proc_ssize_t>(parts.size()), kForm);
  if (size < 0) fail("cannot normalise a text of {} characters: {}", letters.size(), utf8proc_errmsg(size));
  return {parts.begin(), parts.begin() + size};
}

std::u32string decomposed(std::u32string_view letters) {
  const std::vector<utf8proc_int32_t> parts = decomposition(letters);
  return {parts.begin(), parts.end()};
}

std::u32string lower_case(std::u32string_view letters) {
  constexpr char32_t kDottedCapitalI = 0x130;
  constexpr char32_t kDotAbove = 0x307;
  std::u32string lower;
  lower.reserve(letters.size());
  for (const char32_t letter : letters) {
    if (letter == kDottedCapitalI) {
      lower.append({U'i', kDotAbove});
    } else {
      lower.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(letter))));
    }
  }
  return lower;
}

bool is_letter(char32_t letter) {
  const auto category = category_of(letter);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_number(char32_t letter) {
  const auto category = category_of(letter);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_space(char32_t letter) {
  const auto category = category_of(letter);
  const bool control = (letter >= U'\t' && letter <= U'\r') || letter == 0x85;
  return control || category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_mark(char32_t letter) { return category_of(letter) == UTF8PROC_CATEGORY_MN; }

bool is_punctuation(char32_t letter) {
  const auto category = category_of(letter);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_ascii_punctuation(char32_t letter) {
  return (letter >= U'!' && letter <= U'/') || (letter >= U':' && letter <= U'@') ||
         (letter >= U'[' && letter <= U'`') || (letter >= U'{' && letter <= U'~');
}

bool is_other(char32_t letter) {
  const auto category = category_of(letter);
  return category == UTF8PROC_CATEGORY_CN || category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CS || category == UTF8PROC_CATEGORY_CO;
}

}  // namespace protocom::text
