#pragma once
#include <algorithm>
#include <filesystem>
#include <string>

#include "support/clip_folder.h"

namespace protocom::testing {

/// Returns tests/golden/siglip_texts.json.
inline const nlohmann::json& siglip_golden() {
  static const nlohmann::json kGolden = golden_file("siglip_texts.json");
  return kGolden;
}

/// Decodes a text in base64.
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

/// Writes SigLIP's text tower, 24 numbers per text, like `save_pretrained`.
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

/// Returns the largest difference between products of vectors with noise and the expected ones.
inline float worst_miss_of_texts(const at::Tensor& vectors, const nlohmann::json& expected) {
  const at::Tensor rows = noise(3 * vectors.size(1), 3).view({3, -1});
  const at::Tensor products = vectors.to(at::kDouble).matmul(rows.t());
  float worst = 0;
  for (int64_t i = 0; i < products.size(0); ++i) {
    const at::Tensor own = at::tensor(expected[static_cast<size_t>(i)].get<std::vector<double>>(), at::kDouble);
    worst = std::max(worst, (products[i] - own).abs().max().item<float>());
  }
  return worst;
}

/// Returns tests/golden/siglip2_texts.json.
inline const nlohmann::json& siglip2_golden() {
  static const nlohmann::json kGolden = golden_file("siglip2_texts.json");
  return kGolden;
}

/// Writes SigLIP 2's text tower, 24 numbers per text, in a folder like the first published ones.
inline void write_siglip2_texts(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const nlohmann::json& golden = siglip2_golden();
  write_file(folder / "config.json", golden.at("config").dump());
  write_file(folder / "tokenizer.json", golden.at("tokenizer").dump());
  const nlohmann::json settings = {{"model_max_length", golden.at("padded")},
                                   {"add_bos_token", false},
                                   {"add_eos_token", true},
                                   {"padding_side", "right"},
                                   {"eos_token", {{"content", "<eos>"}}},
                                   {"tokenizer_class", "GemmaTokenizer"}};
  write_file(folder / "tokenizer_config.json", settings.dump());
  write_state(folder, state_of(golden));
}

}  // namespace protocom::testing
