#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/array.h"

namespace protocom {

/// Vectors of texts.
struct TextVectors {
  Array vectors;    ///< float32 [n, d], of the length that the network gives: CLIP's are not of unit length
  int64_t cut = 0;  ///< texts that were longer than the encoder takes; what is behind that was left out
};

/// A text encoder: a folder of Hugging Face, read as data. Vectors are those that `transformers` (CLIP: `text_embeds`,
/// SigLIP: `pooler_output`) or `sentence_transformers` (sentence encoders) give for the same text, to rounding.
class TextEncoder {
 public:
  struct Parts;
  explicit TextEncoder(std::unique_ptr<Parts> parts);
  ~TextEncoder();
  TextEncoder(TextEncoder&&) noexcept;

  /// The vector of each text, whatever the others are. Bytes that are not UTF-8 count as U+FFFD. Throws Error for a
  /// text without a word.
  [[nodiscard]] TextVectors encode(const std::vector<std::string>& texts) const;
  /// The tokens of a text as the encoder gets them, cut to what it takes.
  [[nodiscard]] std::vector<int64_t> tokens(const std::string& text) const;
  /// d, numbers of a vector.
  [[nodiscard]] int64_t dim() const;
  /// The longest text in tokens, with those that mark its ends.
  [[nodiscard]] int64_t longest() const;
  /// Whether its vectors lie in the space of an image tower's (CLIP, SigLIP), so that cosines with images count.
  [[nodiscard]] bool compares_with_images() const;

 private:
  std::unique_ptr<Parts> parts_;
};

/// Reads config.json, model.safetensors and the tokenizer's files (tokenizer.json, else vocab.json and merges.txt, or
/// vocab.txt; spiece.model) of a folder. Families: CLIP, SigLIP and SigLIP 2, the text tower alone or with the image
/// tower; BERT and MPNet as sentence encoders, pooled and normalised as modules.json of `sentence_transformers` says,
/// else by the mean. Throws Error that names the file, the family and the key of what is missing, damaged or of another
/// family.
TextEncoder open_text_encoder(const std::filesystem::path& folder);

}  // namespace protocom
