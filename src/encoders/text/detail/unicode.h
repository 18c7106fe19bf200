#pragma once
#include <string>
#include <string_view>

/// Unicode functions for tokenizers; the tables are utf8proc's.
namespace protocom::text {

/// Returns the letters of a text in UTF-8; each invalid byte counts as U+FFFD.
std::u32string letters_of(std::string_view text);
std::string utf8_of(std::u32string_view letters);

/// Return Unicode's composed (NFC) and decomposed (NFD) form, in about linear time for any marks. Throw Error for
/// invalid code points.
std::u32string composed(std::u32string_view letters);
std::u32string decomposed(std::u32string_view letters);

/// Converts each letter to lower case independently, as Rust's `char::to_lowercase`: a capital sigma never becomes a
/// final one, and U+0130 becomes two letters.
std::u32string lower_case(std::u32string_view letters);

bool is_letter(char32_t letter);       ///< \p{L}
bool is_number(char32_t letter);       ///< \p{N}
bool is_space(char32_t letter);        ///< the property White_Space
bool is_mark(char32_t letter);         ///< \p{Mn}
bool is_punctuation(char32_t letter);  ///< \p{P}
bool is_ascii_punctuation(char32_t letter);
bool is_other(char32_t letter);  ///< \p{C}: control, format, unassigned, private

}  // namespace protocom::text
