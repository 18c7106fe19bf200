#include "io/base64.h"

#include <cstdint>

#include "base/error.h"

namespace protocom {
namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint32_t digit_of(char c) {
  const auto found = std::string_view(kDigits).find(c);
  if (found == std::string_view::npos) fail("'{}' is not a base64 digit", c);
  return static_cast<uint32_t>(found);
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) word = word << 8U | (k < left ? static_cast<uint8_t>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) out += k <= left ? kDigits[word >> (18 - 6 * k) & 63U] : '=';
  }
  return out;
}

std::string from_base64(std::string_view text) {
  if (text.size() % 4 != 0) fail("base64 comes in groups of four digits, found {} digits", text.size());
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string out;
  out.reserve(text.size() * 3 / 4);
  uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    word = word << 6U | digit_of(c);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(word >> static_cast<uint32_t>(bits) & 255U);
  }
  return out;
}

}  // namespace protocom
