#pragma once
#include <string>
#include <string_view>

/// What tokenizers ask of Unicode; the tables are utf8proc's.
namespace protocom::text {

/// The letters of a text in UTF-8; each byte that is not part of one counts as U+FFFD.
std::u32string letters_of(std::string_view text);
std::string utf8_of(std::u32string_view letters);

/// Unicode's composed (NFC) and decomposed (NFD) form, in about linear time whatever marks a text has. Throw Error for
/// invalid code points.
std::u32string composed(std::u32string_view letters);
std::u32string decomposed(std::u32string_view letters);

/// Each letter in small letters by itself, as Rust's `char::to_lowercase`: a capital sigma never becomes a final one,
/// and U+0130 becomes two letters.
std::u32string lower_case(std::u32string_view letters);

bool is_letter(char32_t letter);       ///< \p{L}
bool is_number(char32_t letter);       ///< \p{N}
bool is_space(char32_t letter);        ///< the property White_Space
bool is_mark(char32_t letter);         ///< \p{Mn}
bool is_punctuation(char32_t letter);  ///< \p{P}
bool is_ascii_punctuation(char32_t letter);
bool is_other(char32_t letter);  ///< \p{C}: control, format, not assigned, private

}  // namespace protocom::text
