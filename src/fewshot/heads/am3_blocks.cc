#include "fewshot/heads/am3_blocks.h"

#include <ATen/ATen.h>

#include <cmath>

#include "fewshot/toolbox/class_semantics.h"
#include "protocom/nn/unit_vectors.h"

namespace protocom {
namespace {

at::Tensor with_dropout(const TwoLayers& layers, const at::Tensor& x, Dropout dropout) {
  const at::Tensor hidden = layers.hidden(x);
  return layers.output(dropout.share > 0 ? at::dropout(hidden, dropout.share, true) : hidden);
}

/// What semantics say of classes: g(s) and lambda.
struct Said {
  at::Tensor transformed, share;
};

Said said_of(const Am3Block& block, const at::Tensor& semantics, Dropout dropout) {
  const at::Tensor transformed = with_dropout(block.transform, semantics, dropout);
  return {transformed, with_dropout(block.gate, transformed, dropout).sigmoid()};
}

}  // namespace

at::Tensor share_of_prototype(const Am3Block& block, const at::Tensor& semantics) {
  return said_of(block, semantics, {}).share;
}

at::Tensor mixed(const Am3Block& block, const at::Tensor& prototypes, const at::Tensor& semantics, Dropout dropout) {
  const auto [transformed, lambda] = said_of(block, semantics, dropout);
  const at::Tensor w = transformed / std::sqrt(static_cast<double>(prototypes.size(-1)));
  return at::where(is_known(semantics), lambda * prototypes + (1 - lambda) * w, prototypes);
}

std::vector<at::Tensor> chained(const std::vector<Am3Block>& blocks, const at::Tensor& prototypes,
                                const std::vector<at::Tensor>& semantics, Dropout dropout) {
  std::vector<at::Tensor> outputs;
  for (size_t i = 0; i < blocks.size(); ++i)
    outputs.push_back(mixed(blocks[i], i == 0 ? prototypes : outputs.back(), semantics[i], dropout));
  return outputs;
}

at::Tensor class_margins(const at::Tensor& semantics, const MarginLaw& law) {
  const at::Tensor unit = unit_vectors(semantics);
  const at::Tensor margins = law.alpha * at::matmul(unit, unit.transpose(-1, -2)) + law.beta;
  return margins * (1 - at::eye(semantics.size(-2)));
}

at::Tensor with_margins(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& margins) {
  const at::Tensor of_query = labels.unsqueeze(-1).expand(logits.sizes());
  return logits + margins.gather(1, of_query);
}

}  // namespace protocom
