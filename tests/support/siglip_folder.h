#pragma once
#include <filesystem>
#include <string>

#include "support/clip_folder.h"

namespace protocom::testing {

/// tests/golden/siglip_texts.json.
inline const nlohmann::json& siglip_golden() {
  static const nlohmann::json kGolden = golden_file("siglip_texts.json");
  return kGolden;
}

/// The bytes that a text in base64 stands for.
inline std::string bytes_of_base64(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t value = 0;
  int bits = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    value = value << 6U | static_cast<uint32_t>(letters.find(letter));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(value >> bits & 0xFFU);
  }
  return bytes;
}

/// SigLIP's text tower, 24 numbers a text, as `save_pretrained` writes it.
inline void write_siglip_texts(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const nlohmann::json& golden = siglip_golden();
  write_file(folder / "config.json", golden.at("config").dump());
  write_file(folder / "spiece.model", bytes_of_base64(golden.at("model")));
  const nlohmann::json settings = {{"model_max_length", golden.at("padded")},
                                   {"do_lower_case", true},
                                   {"eos_token", {{"content", "</s>"}, {"lstrip", true}}},
                                   {"pad_token", "</s>"}};
  write_file(folder / "tokenizer_config.json", settings.dump());
  write_state(folder, state_of(golden));
}

}  // namespace protocom::testing
