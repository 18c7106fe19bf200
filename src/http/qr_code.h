#pragma once
#include <string>

namespace protocom::http {

/// A QR code of `text` (ISO/IEC 18004, error correction level L, by libqrencode) for a terminal: lines of half blocks,
/// two modules a character, black on white whatever the terminal's colours are, with the four light modules around it
/// that readers need. Throws Error for an empty text or more than fits into a code (2,953 bytes).
std::string terminal_qr_code(const std::string& text);

}  // namespace protocom::http
