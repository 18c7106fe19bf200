#include "encoders/text_encoder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/json_text.h"
#include "encoders/config_json.h"
#include "encoders/text/detail/tokenizer.h"
#include "encoders/torch_functions.h"
#include "io/files.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace protocom {

struct TextEncoder::Parts {
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<text::Tower> tower;
  int64_t longest = 0;  // of a text, in tokens
};

namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "config.json";
constexpr const char* kTensorFile = "model.safetensors";
constexpr const char* kSentences = "sentence_bert_config.json";

/// The meaning of a model_type.
struct TextFamily {
  const char* tower;  // see torch_open_text_tower
  std::unique_ptr<text::Tokenizer> (*tokenizer)(const text::TokenizerFiles&);
};

const std::map<std::string, TextFamily>& text_families() {
  static const std::map<std::string, TextFamily> kAll = {
      {"bert", {"bert", &text::make_bert_tokenizer}},
      {"mpnet", {"mpnet", &text::make_bert_tokenizer}},
      {"clip", {"clip", &text::make_clip_tokenizer}},
      {"clip_text_model", {"clip", &text::make_clip_tokenizer}},
      {"siglip", {"siglip", &text::make_siglip_tokenizer}},
      {"siglip_text_model", {"siglip", &text::make_siglip_tokenizer}},
      {"siglip2", {"siglip", &text::make_siglip2_tokenizer}},
      {"siglip2_text_model", {"siglip", &text::make_siglip2_tokenizer}}};
  return kAll;
}

const TextFamily& family_of(const nlohmann::json& config) {
  if (!config.is_object()) fail("{} is not an object", kConfigFile);
  const std::string type = huggingface::config_text(config, "model_type", "");
  const auto found = text_families().find(type);
  if (found != text_families().end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, family] : text_families()) known.push_back(name);
  fail("{} has the model_type '{}', expected a text encoder, one of {}", kConfigFile, excerpt(type),
       fmt::join(known, ", "));
}

text::TokenizerFiles tokenizer_files(const fs::path& folder) {
  text::TokenizerFiles files;
  for (const char* name : {"tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "spiece.model",
                           text::kTokenizerSettings, kSentences}) {
    if (fs::exists(folder / name)) files[name] = read_file(folder / name);
  }
  return files;
}

/// Returns `most`, or less if a file states that texts are truncated to that.
int64_t cut_to(int64_t most, const text::TokenizerFiles& files, const char* file, const char* name) {
  const nlohmann::json settings = text::settings_in(files, file);
  const auto length = settings.is_object() ? settings.find(name) : settings.end();
  if (length == settings.end() || !length->is_number()) return most;
  constexpr double kLeast = 3;  // the ends, and something between them
  if (length->get<double>() < kLeast) fail("{}: {}={} is too small", file, name, excerpt(json_text(*length)));
  return length->get<double>() < static_cast<double>(most) ? static_cast<int64_t>(length->get<double>()) : most;
}

/// Returns the longest text in tokens.
int64_t longest_of(const text::Tower& tower, const text::TokenizerFiles& files) {
  const int64_t most = cut_to(tower.longest(), files, text::kTokenizerSettings, "model_max_length");
  return cut_to(most, files, kSentences, "max_seq_length");
}

std::unique_ptr<TextEncoder::Parts> parts_of(const text::SentenceModules& modules) {
  const fs::path& folder = modules.folder;
  const nlohmann::json config = parse_json(read_file(folder / kConfigFile), kConfigFile);
  const TextFamily& family = family_of(config);
  const text::TokenizerFiles files = tokenizer_files(folder);
  auto parts = std::make_unique<TextEncoder::Parts>();
  parts->tokenizer = family.tokenizer(files);
  const Safetensors checkpoint = read_safetensors(folder / kTensorFile);
  const nlohmann::json& own = text::object_in(config, "text_config");
  parts->tower = torch_open_text_tower(family.tower, own.empty() ? config : own, checkpoint.tensors, modules);
  if (parts->tokenizer->largest() >= parts->tower->vocabulary())
    fail("the tokenizer's token {} is out of range: the network has {}; use files of one model",
         parts->tokenizer->largest(), parts->tower->vocabulary());
  parts->longest = longest_of(*parts->tower, files);
  return parts;
}

/// Groups texts by length, in batches of so many tokens that caches hold their states.
std::vector<std::vector<size_t>> batches_of(const std::vector<std::vector<int64_t>>& tokens) {
  constexpr size_t kMostTokens = 4096;
  std::map<size_t, std::vector<size_t>> by_length;
  for (size_t i = 0; i < tokens.size(); ++i) by_length[tokens[i].size()].push_back(i);
  std::vector<std::vector<size_t>> batches;
  for (const auto& [length, texts] : by_length) {
    const size_t most = std::max<size_t>(kMostTokens / length, 1);
    for (size_t at = 0; at < texts.size(); at += most)
      batches.emplace_back(texts.begin() + static_cast<std::ptrdiff_t>(at),
                           texts.begin() + static_cast<std::ptrdiff_t>(std::min(at + most, texts.size())));
  }
  return batches;
}

}  // namespace

TextEncoder::TextEncoder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TextEncoder::~TextEncoder() = default;
TextEncoder::TextEncoder(TextEncoder&&) noexcept = default;

int64_t TextEncoder::dim() const { return parts_->tower->dim(); }
int64_t TextEncoder::longest() const { return parts_->longest; }
bool TextEncoder::compares_with_images() const { return parts_->tower->compares_with_images(); }

std::vector<int64_t> TextEncoder::tokens(const std::string& text) const {
  return parts_->tokenizer->tokens(text, parts_->longest).ids;
}

// Texts of one length at a time: none is padded, and a vector does not depend on the other texts.
TextVectors TextEncoder::encode(const std::vector<std::string>& texts) const {
  TextVectors made{Array::uninitialised({static_cast<int64_t>(texts.size()), dim()})};
  std::vector<std::vector<int64_t>> tokens;
  for (const std::string& text : texts) {
    text::Tokens own = parts_->tokenizer->tokens(text, parts_->longest);
    if (own.empty) fail("the text '{}' has no tokens", excerpt(text));
    made.cut += own.cut ? 1 : 0;
    tokens.push_back(std::move(own.ids));
  }
  for (const std::vector<size_t>& batch : batches_of(tokens)) {
    std::vector<int64_t> ids;
    for (const size_t i : batch) ids.insert(ids.end(), tokens[i].begin(), tokens[i].end());
    const Array vectors = parts_->tower->vectors(ids, static_cast<int64_t>(batch.size()));
    for (size_t i = 0; i < batch.size(); ++i) {
      const float* own = vectors.row(static_cast<int64_t>(i)).data<float>();
      std::copy(own, own + dim(), made.vectors.row(static_cast<int64_t>(batch[i])).mutable_data<float>());
    }
  }
  return made;
}

TextEncoder open_text_encoder(const fs::path& folder) {
  if (!fs::is_directory(folder))
    fail("{} is not a folder: a text encoder is a folder of Hugging Face", folder.string());
  try {
    const text::SentenceModules modules = text::read_sentence_modules(folder);
    for (const char* name : {kConfigFile, kTensorFile}) {
      if (!fs::exists(modules.folder / name))
        fail(
            "missing {}: a text encoder is a folder with {}, {} and its tokenizer's files (of several parts or a "
            "pickle make one by model.save_pretrained(folder, max_shard_size='20GB'))",
            name, kConfigFile, kTensorFile);
    }
    return TextEncoder(parts_of(modules));
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(one_line(folder.string())) != std::string_view::npos) throw;
    fail("{}: {}", folder.string(), error.what());
  }
}

}  // namespace protocom
