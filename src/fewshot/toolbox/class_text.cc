#include "fewshot/toolbox/detail/class_text.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/toolbox/detail/class_semantics.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/row_products.h"
#include "tensors/tensors.h"
#include "tensors/unit_vectors.h"

namespace protocom {

ClassText::ClassText(const MethodContext& context)
    : padded_(padded_row(
          unit_vectors(tensor_of(align_knowledge(*context.knowledge, *context.class_names, {}).class_embedding))
              .to(at::kFloat))),
      vectors_(padded_.narrow(1, 0, context.knowledge->class_embedding.size(1))) {}

void ClassText::check_width(int64_t images) const {
  if (vectors_.size(1) != images)
    fail(
        "the knowledge has vectors of {} numbers and the images have {}: this method compares both, which takes the "
        "text encoder that was trained with the image encoder (protocom knowledge embeddings)",
        vectors_.size(1), images);
}

at::Tensor ClassText::cosines(const at::Tensor& images, const at::Tensor& classes) const {
  check_width(images.size(-1));
  if (!classes.defined()) fail("this method needs to know which classes an episode has");
  const at::Tensor texts = rows_at(vectors_, classes);                                        // [b, n, d]
  const at::Tensor known = is_known(texts).to(images.scalar_type()).transpose(1, 2);          // [b, 1, n]
  const at::Tensor own = at::matmul(images, texts.to(images.scalar_type()).transpose(1, 2));  // 0 where there is none
  const at::Tensor mean = own.sum(-1, true) / known.sum(-1, true).clamp_min(1);
  return own + (1 - known) * mean;
}

void ClassText::place_cosines(const Task& task, int64_t first, int64_t count, float* out) const {
  check_width(task.width);
  if (task.classes.empty()) fail("this method needs to know which classes an episode has");
  std::vector<const float*> texts;
  std::vector<int64_t> without;
  for (const int64_t k : task.classes) {
    texts.push_back(padded_.data_ptr<float>() + k * padded_.size(1));
    if (row_dot(texts.back(), texts.back(), task.dim) == 0) without.push_back(static_cast<int64_t>(texts.size()) - 1);
  }
  products_of_rows({task.rows.data() + first, count, texts.data(), task.n, task.dim, task.n}, out);
  if (without.empty()) return;
  const float inverse = 1.0F / static_cast<float>(std::max<int64_t>(task.n - static_cast<int64_t>(without.size()), 1));
  for (int64_t i = 0; i < count; ++i) {
    float* own = out + i * task.n;  // 0 for those without
    const float mean = std::accumulate(own, own + task.n, 0.0F) * inverse;
    for (const int64_t k : without) own[k] = mean;
  }
}

}  // namespace protocom
