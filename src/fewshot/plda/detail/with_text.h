#pragma once
#include "fewshot/method.h"
#include "fewshot/toolbox/detail/class_text.h"

namespace protocom {

/// Name of the prior from texts of the classes, by the text encoder that was trained with the image encoder.
inline constexpr const char* kTextPrior = "text";

/// Weights of texts, as factors of cosines in the softmax: their log odds are added to those of the photos, and without
/// photos the answer is CLIP's own.
struct TextWeights {
  double alone = kClipScale;  ///< if no class has a photo
  double beside = 70;         ///< chosen as in docs/methods/plda.md
};

/// Combines the answers of `photos` with the context's texts: its logits + w cos(x, t_k), with P(known) of `photos`.
/// Without any photo the texts alone answer. The context's knowledge is not null.
PreparedMethod with_text(PreparedMethod photos, const MethodContext& context, const TextWeights& weights);

}  // namespace protocom
