#pragma once
#include <ATen/ATen.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/files.h"
#include "io/safetensors.h"
#include "support/made_up.h"
#include "tensors/tensors.h"

namespace protocom::testing {

using TextState = std::map<std::string, at::Tensor>;

/// Reads a file of tests/golden.
inline nlohmann::json golden_file(const char* name) {
  std::ifstream file(std::filesystem::path(PROTOCOM_GOLDEN).parent_path() / name);
  return nlohmann::json::parse(file);
}

/// Returns tests/golden/text_encoders.json.
inline const nlohmann::json& texts_golden() {
  static const nlohmann::json kGolden = golden_file("text_encoders.json");
  return kGolden;
}

/// Returns the made-up weights of a golden network.
inline TextState state_of(const nlohmann::json& golden) {
  TextState state;
  for (const auto& [name, shape] : golden.at("shapes").items())
    state[name] = made_up(name, shape.get<std::vector<int64_t>>()).to(at::kFloat).contiguous();
  return state;
}

inline void write_state(const std::filesystem::path& folder, const TextState& state) {
  write_safetensors(folder / "model.safetensors", arrays_of({state.begin(), state.end()}), {{"format", "pt"}});
}

inline std::string merges_text(const nlohmann::json& golden) {
  std::string text = "#version: 0.2\n";
  for (const auto& pair : golden.at("merges")) text += pair.get<std::string>() + "\n";
  return text;
}

/// Writes CLIP's text tower, 24 numbers per text, like `save_pretrained` of older versions.
inline void write_clip_texts(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const nlohmann::json& golden = texts_golden().at("clip");
  write_file(folder / "config.json", golden.at("config").dump());
  write_file(folder / "vocab.json", golden.at("vocabulary").dump());
  write_file(folder / "merges.txt", merges_text(golden));
  write_file(folder / "tokenizer_config.json", R"({"model_max_length": 77})");
  write_state(folder, state_of(golden));
}

/// Writes both towers into one folder; images of 32 pixels.
inline void write_clip(const std::filesystem::path& folder) {
  write_clip_texts(folder);
  const nlohmann::json images = golden_file("huggingface.json").at("clip-projected");
  TextState state = state_of(texts_golden().at("clip"));
  state.merge(state_of(images));
  state["logit_scale"] = at::ones({});
  write_state(folder, state);
  const nlohmann::json both = {{"model_type", "clip"},
                               {"vision_config", images.at("config")},
                               {"text_config", texts_golden().at("clip").at("config")}};
  write_file(folder / "config.json", both.dump());
  const nlohmann::json stated = {{"image_mean", {0.5, 0.5, 0.5}}, {"image_std", {0.5, 0.5, 0.5}}, {"size", 32}};
  write_file(folder / "preprocessor_config.json", stated.dump());
}

}  // namespace protocom::testing
