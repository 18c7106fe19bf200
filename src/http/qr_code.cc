#include "http/qr_code.h"

#include <qrencode.h>

#include <memory>

#include "base/error.h"

namespace protocom::http {
namespace {

constexpr int kMargin = 4;  ///< light modules around the code

struct FreeCode {
  void operator()(QRcode* code) const { QRcode_free(code); }
};

/// Whether a module of the code, or of the margin around it, is dark.
bool is_dark(const std::vector<std::string>& code, int row, int column) {
  const int width = static_cast<int>(code.size());
  if (row < 0 || column < 0 || row >= width || column >= width) return false;
  return code[static_cast<size_t>(row)][static_cast<size_t>(column)] == '1';
}

/// Returns the character for two modules, one above the other.
const char* half_blocks(bool upper, bool lower) {
  if (upper) return lower ? "█" : "▀";
  return lower ? "▄" : " ";
}

}  // namespace

std::vector<std::string> qr_code(const std::string& text) {
  if (text.empty()) fail("a QR code needs a text");
  const std::unique_ptr<QRcode, FreeCode> code(QRcode_encodeData(
      static_cast<int>(text.size()), reinterpret_cast<const unsigned char*>(text.data()), /*version=*/0, QR_ECLEVEL_L));
  if (code == nullptr) fail("a QR code holds at most 2,953 bytes, found {}", text.size());
  const auto width = static_cast<size_t>(code->width);
  std::vector<std::string> rows(width, std::string(width, '0'));
  for (size_t i = 0; i < width * width; ++i) rows[i / width][i % width] = (code->data[i] & 1U) != 0 ? '1' : '0';
  return rows;
}

std::string terminal_qr_code(const std::string& text) {
  const std::vector<std::string> code = qr_code(text);
  const int end = static_cast<int>(code.size()) + kMargin;
  std::string lines;
  for (int row = -kMargin; row < end; row += 2) {
    lines += "\033[30;107m";
    for (int column = -kMargin; column < end; ++column)
      lines += half_blocks(is_dark(code, row, column), is_dark(code, row + 1, column));
    lines += "\033[0m\n";
  }
  return lines;
}

}  // namespace protocom::http
