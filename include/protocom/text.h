#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocom/error.h"
#include "protocom/rows.h"

namespace protocom::v0 {

/// Vectors of texts.
struct EncodedTexts {
  Matrix vectors;     ///< float32 [n, d], not normalised: CLIP's do not have unit length
  Warnings warnings;  ///< about texts that were too long and were cut
};

/// A text encoder: a Hugging Face folder (CLIP, SigLIP, BERT and MPNet as sentence encoders), read as data. Copies
/// share it; may be used from several threads.
class PROTOCOM_API TextEncoder {
 public:
  /// Throws Error for a file that is missing, damaged or of an unsupported family; it names file, family and key.
  explicit TextEncoder(const std::string& folder);

  /// Encodes texts. Throws Error for a text without a word.
  [[nodiscard]] EncodedTexts encode(const std::vector<std::string>& texts) const;
  /// Dimension d of a vector.
  [[nodiscard]] int64_t dim() const;
  /// The longest text in tokens, including begin and end tokens.
  [[nodiscard]] int64_t longest() const;
  /// Whether its vectors can be compared with those of an image tower (CLIP, SigLIP).
  [[nodiscard]] bool compares_with_images() const;

  struct Impl;
  [[nodiscard]] const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace protocom::v0
