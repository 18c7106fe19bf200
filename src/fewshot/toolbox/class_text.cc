#include "fewshot/toolbox/detail/class_text.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/row_kernels.h"

namespace protocom {

ClassText::ClassText(const MethodContext& context) {
  const Array given = align_knowledge(*context.knowledge, *context.class_names, {}).class_embedding;
  const Array vectors = given.to(NumberType::kFloat32);
  width_ = vectors.size(1);
  vectors_ = FloatMatrix::Zero(vectors.size(0), padded_length(width_));
  vectors_.leftCols(width_) = unit_rows(matrix_of<float>(vectors));
}

void ClassText::check_width(int64_t width) const {
  if (width_ != width)
    fail(
        "the knowledge has vectors of {} dimensions, the images features of {}: this method needs vectors by the image "
        "encoder's own text encoder (protocom knowledge embeddings)",
        width_, width);
}

FloatMatrix ClassText::vectors_of(const std::vector<int64_t>& classes, int64_t width) const {
  check_width(width);
  FloatMatrix vectors = vectors_(classes, Eigen::seqN(0, width));
  std::vector<int64_t> without;
  for (int64_t k = 0; k < vectors.rows(); ++k) {
    if (vectors.row(k).squaredNorm() == 0) without.push_back(k);
  }
  const auto others = std::max<int64_t>(vectors.rows() - static_cast<int64_t>(without.size()), 1);
  const Eigen::RowVectorXf mean = vectors.colwise().sum() / static_cast<float>(others);
  for (const int64_t k : without) vectors.row(k) = mean;
  return vectors;
}

void ClassText::compute_cosines(const Task& task, int64_t first, int64_t count, float* out) const {
  check_width(task.width);
  if (task.classes.empty()) fail("this method needs the class names of each episode");
  std::vector<const float*> texts;
  std::vector<int64_t> without;
  for (const int64_t k : task.classes) {
    texts.push_back(vectors_.row(k).data());
    if (row_dot(texts.back(), texts.back(), task.dim) == 0) without.push_back(static_cast<int64_t>(texts.size()) - 1);
  }
  products_of_rows({task.rows.data() + first, count, texts.data(), task.n, task.dim, task.n}, out);
  if (without.empty()) return;
  const float inverse = 1.0F / static_cast<float>(std::max<int64_t>(task.n - static_cast<int64_t>(without.size()), 1));
  for (int64_t i = 0; i < count; ++i) {
    float* own = out + i * task.n;  // 0 for classes without text
    const float mean = std::accumulate(own, own + task.n, 0.0F) * inverse;
    for (const int64_t k : without) own[k] = mean;
  }
}

}  // namespace protocom
