#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace protocom {

/// Whether the bytes are valid UTF-8, as JSON requires (RFC 3629: no surrogates or overlong forms).
bool is_utf8(std::string_view text);

/// A letter of an arbitrary text.
struct Letter {
  char32_t code = 0;    ///< code point; for invalid UTF-8 the byte
  size_t size = 1;      ///< bytes
  bool steers = false;  ///< not a letter: it controls a terminal, or reverses the direction of text
};

/// Returns the letter that begins at a byte. These letters steer: control characters (C0, DEL, and C1, also as a single
/// byte), line and paragraph separators, and the overrides, embeddings and isolates of writing direction.
Letter letter_at(std::string_view text, size_t begin);

/// Appends the UTF-8 of a code point.
void append_utf8(std::string& to, uint32_t code);

/// Whether a text contains such a letter. No name may have one.
bool steers_terminals(std::string_view text);
/// Returns the text with a question mark for each of them except line ends and tabs.
std::string without_steering(std::string_view text);

}  // namespace protocom
