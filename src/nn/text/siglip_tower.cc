#include <ATen/ATen.h>

#include "nn/huggingface/layers.h"
#include "nn/text/tower.h"

namespace protocom::text {
namespace {

using huggingface::Tensors;
using huggingface::Weights;

/// SigLIP's text tower (Zhai et al., ICCV 2023): every token sees all others, those that fill a text up too, and the
/// state of the last one is the text's.
struct SiglipParts {
  huggingface::TransformerShape shape;
  at::Tensor embeddings;  // [v, w]
  at::Tensor positions;   // [longest, w]
  std::vector<huggingface::TransformerLayer> layers;
  huggingface::Norm after;
  huggingface::Linear head;  // [d, w]
};

class SiglipTower : public Tower {
 public:
  explicit SiglipTower(SiglipParts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] at::Tensor vectors(const at::Tensor& tokens) const override {
    at::Tensor x = at::embedding(parts_.embeddings, tokens) + parts_.positions.narrow(0, 0, tokens.size(1));
    for (const auto& layer : parts_.layers) x = run_layer(layer, parts_.shape, x);
    return parts_.head(parts_.after(x.select(1, -1)));
  }
  [[nodiscard]] int64_t longest() const override { return parts_.positions.size(0); }
  [[nodiscard]] int64_t vocabulary() const override { return parts_.embeddings.size(0); }
  [[nodiscard]] int64_t dim() const override { return parts_.head.weight.size(0); }
  [[nodiscard]] bool compares_with_images() const override { return true; }

 private:
  SiglipParts parts_;
};

}  // namespace

std::unique_ptr<Tower> make_siglip_tower(const nlohmann::json& config, const Tensors& tensors,
                                         const SentenceModules& /*modules*/) {
  Weights weights(tensors, "SigLIP (texts)", "embeddings.token_embedding.weight");
  SiglipParts parts;
  const huggingface::TransformerShape usual = {768, 12, 3072, 1, 1e-6, nullptr};
  parts.shape = huggingface::shape_of(config, usual, "gelu_pytorch_tanh");
  const int64_t width = parts.shape.width;
  parts.embeddings = weights.take("embeddings.token_embedding.weight", {-1, width});
  parts.positions = weights.take("embeddings.position_embedding.weight", {-1, width});
  parts.layers = huggingface::layers_of(weights, "encoder.layers.", huggingface::kClipLayers, parts.shape);
  parts.after = huggingface::norm(weights, "final_layer_norm", width, parts.shape.epsilon);
  parts.head.weight = weights.take("head.weight", {-1, width});
  parts.head.bias = weights.take("head.bias", {parts.head.weight.size(0)});
  weights.check_all_taken({"vision_model.", "logit_scale", "logit_bias"});
  return std::make_unique<SiglipTower>(std::move(parts));
}

}  // namespace protocom::text
