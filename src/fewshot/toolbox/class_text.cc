#include "fewshot/toolbox/detail/class_text.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "base/unit_vectors.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/toolbox/detail/class_semantics.h"

namespace protocom {

ClassText::ClassText(const MethodContext& context)
    : vectors_(unit_vectors(align_knowledge(*context.knowledge, *context.class_names, {}).class_embedding)) {}

at::Tensor ClassText::cosines(const at::Tensor& images, const at::Tensor& classes) const {
  if (vectors_.size(1) != images.size(-1))
    fail(
        "the knowledge has vectors of {} numbers and the images have {}: this method compares both, which takes the "
        "text encoder that was trained with the image encoder (protocom knowledge embeddings)",
        vectors_.size(1), images.size(-1));
  if (!classes.defined()) fail("this method needs to know which classes an episode has");
  const at::Tensor texts = rows_at(vectors_, classes);                                        // [b, n, d]
  const at::Tensor known = is_known(texts).to(images.scalar_type()).transpose(1, 2);          // [b, 1, n]
  const at::Tensor own = at::matmul(images, texts.to(images.scalar_type()).transpose(1, 2));  // 0 where there is none
  const at::Tensor mean = own.sum(-1, true) / known.sum(-1, true).clamp_min(1);
  return own + (1 - known) * mean;
}

}  // namespace protocom
