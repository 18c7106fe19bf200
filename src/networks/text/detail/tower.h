#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encoders/sentence_modules.h"
#include "encoders/text_tower.h"
#include "networks/huggingface/detail/layers.h"

namespace protocom::text {

/// A tower of LibTorch, made of the parts common to all families.
class TensorTower : public Tower {
 public:
  huggingface::TransformerShape shape;
  at::Tensor embeddings;  ///< [v, w]
  at::Tensor positions;   ///< [longest, w]
  std::vector<huggingface::TransformerLayer> layers;

  [[nodiscard]] Array vectors(const std::vector<int64_t>& ids, int64_t texts) const final;
  [[nodiscard]] int64_t longest() const final { return positions.size(0); }
  [[nodiscard]] int64_t vocabulary() const final { return embeddings.size(0); }
  [[nodiscard]] int64_t dim() const override { return shape.width; }
  [[nodiscard]] bool compares_with_images() const override { return false; }

 protected:
  /// Computes int64 [n, t] -> [n, d].
  [[nodiscard]] virtual at::Tensor states(const at::Tensor& tokens) const = 0;
  /// Returns the input of the layers, int64 [n, t] -> [n, t, w].
  [[nodiscard]] at::Tensor embedded(const at::Tensor& tokens) const;
};

/// Makes the tower of a family, see torch_open_text_tower.
std::unique_ptr<Tower> make_tower(const std::string& family, const nlohmann::json& config,
                                  const huggingface::Tensors& tensors, const SentenceModules& modules);

/// Makes CLIP's text tower, with its projection into the space of images if the checkpoint has it; `config` is the text
/// part of config.json. Throws Error that names the key.
std::unique_ptr<Tower> make_clip_tower(const nlohmann::json& config, const huggingface::Tensors& tensors,
                                       const SentenceModules& modules);

/// Makes SigLIP's text tower. Throws Error that names the key.
std::unique_ptr<Tower> make_siglip_tower(const nlohmann::json& config, const huggingface::Tensors& tensors,
                                         const SentenceModules& modules);

/// Make sentence encoders. Throw Error that names the key.
std::unique_ptr<Tower> make_bert_tower(const nlohmann::json& config, const huggingface::Tensors& tensors,
                                       const SentenceModules& modules);
std::unique_ptr<Tower> make_mpnet_tower(const nlohmann::json& config, const huggingface::Tensors& tensors,
                                        const SentenceModules& modules);

}  // namespace protocom::text
