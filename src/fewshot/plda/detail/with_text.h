#pragma once
#include "fewshot/method.h"
#include "fewshot/toolbox/detail/class_text.h"

namespace protocom {

/// The prior of that name: texts of the classes by the image encoder's own text encoder.
inline constexpr const char* kTextPrior = "text";

/// How much texts count, as factors of cosines in the softmax: their log odds are added to those of the photos, and
/// without photos the answer is CLIP's own.
struct TextWeights {
  double alone = kClipScale;  ///< if no class has a photo
  double beside = 70;         ///< chosen on: see docs/methods/plda.md
};

/// Answers of `photos` and of the context's texts: its logits + w cos(x, t_k), P(known) as `photos` has it. Without any
/// photo the texts alone answer. The context's knowledge is not null.
PreparedMethod with_text(PreparedMethod photos, const MethodContext& context, const TextWeights& weights);

}  // namespace protocom
