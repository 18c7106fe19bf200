#pragma once
#include <string>
#include <vector>

namespace protocom::http {

/// Makes a QR code of `text` (ISO/IEC 18004, error correction level L, by libqrencode): one string per row of modules,
/// '1' for a dark one. Readers need four light modules around it. Throws Error for an empty text or more than fits into
/// a code (2,953 bytes).
std::vector<std::string> qr_code(const std::string& text);

/// Formats it for a terminal, including the light margin: lines of half blocks, two modules per character, black on
/// white whatever the terminal's colours are.
std::string terminal_qr_code(const std::string& text);

}  // namespace protocom::http
