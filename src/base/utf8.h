#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace protocom {

/// Whether the bytes are text in UTF-8, as JSON needs it (RFC 3629: no surrogates, nothing longer than it need be).
bool is_utf8(std::string_view text);

/// A letter of a text that may be anything.
struct Letter {
  char32_t code = 0;    ///< in Unicode; of what is not UTF-8 the byte
  size_t size = 1;      ///< bytes
  bool steers = false;  ///< no letter at all: it steers a terminal, or turns around what is read beside it
};

/// The letter that begins at a byte. What steers: control characters (C0, DEL, and C1, as a byte of its own too), the
/// separators of lines and paragraphs, and the overrides, embeddings and isolates of writing direction.
Letter letter_at(std::string_view text, size_t begin);

/// Adds the UTF-8 of a code point.
void append_utf8(std::string& to, uint32_t code);

/// Whether there is such a letter. No name may have one.
bool steers_terminals(std::string_view text);
/// The text with a question mark for each of them but line ends and tabs.
std::string without_steering(std::string_view text);

}  // namespace protocom
