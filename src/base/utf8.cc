#include "base/utf8.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace protocom {
namespace {

/// Returns the number of bytes of a letter that begins with this byte; 1 if none does.
size_t announced_size(unsigned char first) {
  if (first >= 0xf0 && first < 0xf8) return 4;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xc2 && first < 0xe0 ? 2 : 1;
}

/// Whether a letter's encoding is valid: the shortest one, and not a surrogate.
bool is_letter(char32_t code, size_t size) {
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code >= kLeast[size] && code <= 0x10ffff && !surrogate;
}

bool steers(char32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool direction = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return control || separator || direction;
}

}  // namespace

Letter letter_at(std::string_view text, size_t begin) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[begin + i]); };
  const size_t size = announced_size(byte(0));
  char32_t code = size == 1 ? byte(0) : byte(0) & (0xffU >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if (begin + i >= text.size() || (byte(i) & 0xc0U) != 0x80) return {byte(0), 1, steers(byte(0))};  // invalid UTF-8
    code = code << 6 | (byte(i) & 0x3fU);
  }
  if (!is_letter(code, size)) return {byte(0), 1, steers(byte(0))};
  return {code, size, steers(code)};
}

void append_utf8(std::string& to, uint32_t code) {
  if (code < 0x80) {
    to += static_cast<char>(code);
    return;
  }
  const int others = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  to += static_cast<char>(0xf80U >> others | code >> 6 * others);  // one leading 1 bit per byte, then a 0
  for (int i = others; i-- > 0;) to += static_cast<char>(0x80 | (code >> 6 * i & 0x3f));
}

bool steers_terminals(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Letter letter = letter_at(text, i);
    if (letter.steers) return true;
    i += letter.size;
  }
  return false;
}

std::string without_steering(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size();) {
    const Letter letter = letter_at(text, i);
    const bool kept = !letter.steers || text[i] == '\n' || text[i] == '\t';
    kept ? plain += text.substr(i, letter.size) : plain += '?';
    i += letter.size;
  }
  return plain;
}

bool is_utf8(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return true;
  try {
    static_cast<void>(strict_json_text(std::string(text)));
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

}  // namespace protocom
