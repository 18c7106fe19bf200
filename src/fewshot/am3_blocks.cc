#include "fewshot/am3_blocks.h"

#include <ATen/ATen.h>

#include <cmath>

#include "fewshot/class_semantics.h"
#include "protocom/nn/unit_vectors.h"

namespace protocom {
namespace {

at::Tensor with_dropout(const TwoLayers& layers, const at::Tensor& x, Dropout dropout) {
  const at::Tensor hidden = layers.hidden(x);
  return layers.output(dropout.share > 0 ? at::dropout(hidden, dropout.share, true) : hidden);
}

}  // namespace

at::Tensor mixed(const Am3Block& block, const at::Tensor& prototypes, const at::Tensor& semantics, Dropout dropout) {
  const at::Tensor said = with_dropout(block.transform, semantics, dropout);
  const at::Tensor w = said / std::sqrt(static_cast<double>(prototypes.size(-1)));
  const at::Tensor lambda = with_dropout(block.gate, said, dropout).sigmoid();
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
