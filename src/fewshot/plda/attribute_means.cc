#include "fewshot/plda/attribute_means.h"

#include <ATen/ATen.h>

namespace protocom {

AttributeMeans::AttributeMeans(const PriorExamples& examples)
    : has(examples.descriptions.association.gt(0)), count(has.to(at::kDouble).sum(0)) {
  const at::Tensor means = examples.means.narrow(1, 0, examples.leading);
  const at::Tensor share = has.to(at::kDouble).t() / count.clamp_min(1).unsqueeze(1);  // [a, c]
  mean = at::matmul(share, means);
  variance = 1 + (at::matmul(share, means.square()) - mean.square()).clamp_min(0);
}

at::Tensor AttributeMeans::without(const at::Tensor& class_mean, int64_t place) const {
  const at::Tensor here = has[place].to(at::kDouble).unsqueeze(1);
  const at::Tensor others = count.unsqueeze(1) - here;
  return (count.unsqueeze(1) * mean - here * class_mean) / others.clamp_min(1) * others.gt(0).to(at::kDouble);
}

}  // namespace protocom
