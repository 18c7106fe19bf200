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
  Array vectors;    ///< float32 [n, d], not normalised: CLIP's do not have unit length
  int64_t cut = 0;  ///< number of texts that were too long and were truncated
};

/// A text encoder: a folder of Hugging Face, read as data. Vectors equal those of `transformers` (CLIP: `text_embeds`,
/// SigLIP: `pooler_output`) or `sentence_transformers` (sentence encoders) for the same text, up to rounding.
class TextEncoder {
 public:
  struct Parts;
  explicit TextEncoder(std::unique_ptr<Parts> parts);
  ~TextEncoder();
  TextEncoder(TextEncoder&&) noexcept;

  /// Returns the vector of each text, independent of the others. Invalid UTF-8 bytes count as U+FFFD. Throws Error for
  /// a text without a word.
  [[nodiscard]] TextVectors encode(const std::vector<std::string>& texts) const;
  /// Returns the tokens of a text as passed to the network, truncated.
  [[nodiscard]] std::vector<int64_t> tokens(const std::string& text) const;
  /// Dimension d of a vector.
  [[nodiscard]] int64_t dim() const;
  /// The longest text in tokens, including those that mark its ends.
  [[nodiscard]] int64_t longest() const;
  /// Whether its vectors are in the space of an image tower (CLIP, SigLIP), so that cosines with images are meaningful.
  [[nodiscard]] bool compares_with_images() const;

 private:
  std::unique_ptr<Parts> parts_;
};

/// Reads config.json, model.safetensors and the tokenizer's files (tokenizer.json, else vocab.json and merges.txt, or
/// vocab.txt; spiece.model) of a folder. Families: CLIP, SigLIP and SigLIP 2, the text tower alone or with the image
/// tower; BERT and MPNet as sentence encoders, pooled and normalised as stated in modules.json of
/// `sentence_transformers`, else by the mean. Throws Error that names the file, the family and the key that is missing,
/// damaged or of another family.
TextEncoder open_text_encoder(const std::filesystem::path& folder);

}  // namespace protocom
