#pragma once
#include <ATen/core/Tensor.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "encoders/huggingface/detail/layers.h"
#include "encoders/text/detail/modules.h"

namespace protocom::text {

/// A network from tokens to vectors, made of what all families have.
class Tower {
 public:
  huggingface::TransformerShape shape;
  at::Tensor embeddings;  ///< [v, w]
  at::Tensor positions;   ///< [longest, w]
  std::vector<huggingface::TransformerLayer> layers;

  Tower() = default;
  Tower(const Tower&) = delete;
  Tower& operator=(const Tower&) = delete;
  virtual ~Tower() = default;

  /// int64 [n, t], texts of the same length, 1 <= t <= longest() -> float32 [n, d].
  [[nodiscard]] virtual at::Tensor vectors(const at::Tensor& tokens) const = 0;
  /// The most tokens of a text.
  [[nodiscard]] int64_t longest() const { return positions.size(0); }
  /// How many tokens it knows: theirs are the numbers below.
  [[nodiscard]] int64_t vocabulary() const { return embeddings.size(0); }
  [[nodiscard]] virtual int64_t dim() const { return shape.width; }
  /// Whether vectors lie in the space of an image tower's.
  [[nodiscard]] virtual bool compares_with_images() const { return false; }

 protected:
  /// int64 [n, t] -> [n, t, w], what the layers begin with.
  [[nodiscard]] at::Tensor embedded(const at::Tensor& tokens) const;
};

/// CLIP's text tower, with its projection into the space of images where the checkpoint has that; `config` is what
/// config.json says of texts. Throws Error that names the key.
std::unique_ptr<Tower> make_clip_tower(const nlohmann::json& config, const huggingface::Tensors& tensors,
                                       const SentenceModules& modules);

/// SigLIP's text tower. Throws Error that names the key.
std::unique_ptr<Tower> make_siglip_tower(const nlohmann::json& config, const huggingface::Tensors& tensors,
                                         const SentenceModules& modules);

/// Sentence encoders. Throw Error that names the key.
std::unique_ptr<Tower> make_bert_tower(const nlohmann::json& config, const huggingface::Tensors& tensors,
                                       const SentenceModules& modules);
std::unique_ptr<Tower> make_mpnet_tower(const nlohmann::json& config, const huggingface::Tensors& tensors,
                                        const SentenceModules& modules);

}  // namespace protocom::text
