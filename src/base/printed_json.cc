#include "base/printed_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/utf8.h"

namespace protocom {

std::string printed_json(const nlohmann::json& value, int indent) {
  const std::string text = json_text(value, indent);
  std::string printed;
  printed.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Letter letter = letter_at(text, i);
    if (letter.steers && text[i] != '\n')
      printed += fmt::format("\\u{:04x}", static_cast<unsigned>(letter.code));
    else
      printed += text.substr(i, letter.size);
    i += letter.size;
  }
  return printed;
}

}  // namespace protocom
