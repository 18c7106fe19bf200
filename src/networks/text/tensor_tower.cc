#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <map>

#include "base/error.h"
#include "networks/text/detail/tower.h"
#include "tensors/tensors.h"

namespace protocom::text {

Array TensorTower::vectors(const std::vector<int64_t>& ids, int64_t texts) const {
  const at::NoGradGuard no_grad;
  return array_of(states(at::tensor(ids, at::kLong).view({texts, -1})).to(at::kFloat));
}

at::Tensor TensorTower::embedded(const at::Tensor& tokens) const {
  return at::embedding(embeddings, tokens) + positions.narrow(0, 0, tokens.size(1));
}

std::unique_ptr<Tower> make_tower(const std::string& family, const nlohmann::json& config,
                                  const huggingface::Tensors& tensors, const SentenceModules& modules) {
  using Maker = std::unique_ptr<Tower> (*)(const nlohmann::json&, const huggingface::Tensors&, const SentenceModules&);
  static const std::map<std::string, Maker> kMakers = {{"bert", &make_bert_tower},
                                                       {"mpnet", &make_mpnet_tower},
                                                       {"clip", &make_clip_tower},
                                                       {"siglip", &make_siglip_tower}};
  const auto found = kMakers.find(family);
  if (found == kMakers.end())
    fail("unknown family '{}' of text encoders: expected bert, mpnet, clip or siglip", excerpt(family));
  return found->second(config, tensors, modules);
}

}  // namespace protocom::text
