#include "fewshot/plda/model.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "tensors/tensors.h"

namespace protocom {
namespace {

/// Which rows say anything, bool [n].
at::Tensor described(const KnowledgeTable& descriptions) {
  at::Tensor any;
  for (const at::Tensor& part : {tensor_of(descriptions.association), tensor_of(descriptions.class_embedding)}) {
    if (!part.defined()) continue;
    const at::Tensor here = part.ne(0).any(-1);
    any = any.defined() ? any.logical_or(here) : here;
  }
  return any;
}

}  // namespace

double ByShots::at(double shots) const {
  // K / (K + 1), which is 1/2 for one image and 5/6 for five.
  const double place = std::min(shots, 5.0) / (std::min(shots, 5.0) + 1);
  constexpr double kOne = 1.0 / 2;
  constexpr double kFive = 5.0 / 6;
  if (place < kOne) return none + (one - none) * place / kOne;
  return one + (five - one) * (place - kOne) / (kFive - kOne);
}

ClassMeanPrior PldaModel::prior(const KnowledgeTable& descriptions, int64_t n) const {
  if (!knowledge || descriptions.empty()) return no_knowledge(space.between.to(at::kFloat), {n});
  const at::Tensor mean = knowledge->predict(descriptions).to(at::kFloat);
  const at::Tensor known = described(descriptions);
  if (known.all().item<bool>()) return {mean, residual.to(at::kFloat)};
  return {mean * known.unsqueeze(-1), at::where(known.unsqueeze(-1), residual, space.between).to(at::kFloat)};
}

}  // namespace protocom
