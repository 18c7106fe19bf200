#include "encoders/text/detail/unicode.h"

#include <utf8proc.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "base/error.h"

namespace protocom::text {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

utf8proc_category_t category_of(char32_t letter) { return utf8proc_category(static_cast<utf8proc_int32_t>(letter)); }

std::u32string in_form(std::u32string_view letters, utf8proc_option_t form) {
  const std::string text = utf8_of(letters);
  utf8proc_uint8_t* made = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &made, form);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(made, &std::free);
  if (size < 0) fail("a text of {} bytes cannot be normalised: {}", text.size(), utf8proc_errmsg(size));
  return letters_of({reinterpret_cast<const char*>(made), static_cast<size_t>(size)});
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
  return in_form(letters, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
}

std::u32string decomposed(std::u32string_view letters) {
  return in_form(letters, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE));
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
