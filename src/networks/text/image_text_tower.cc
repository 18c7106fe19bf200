#include <ATen/ATen.h>

#include <limits>

#include "networks/text/detail/tower.h"

/// Text towers that were trained with an image tower: CLIP's and SigLIP's. They share their layers, and differ in which
/// tokens attend to which and in whose state represents the text.
namespace protocom::text {
namespace {

using huggingface::Tensors;
using huggingface::Weights;

/// config.json of the first CLIPs states 2, which does not end their texts: for it `transformers` uses the largest
/// token, as OpenAI's code does for all.
constexpr int64_t kLargestEnds = 2;

class ImageTextTower : public TensorTower {
 public:
  huggingface::Norm after;
  huggingface::Linear head;  // [d, w]; undefined: none
  bool sees_behind = true;   // whether a token attends to later ones
  int64_t end = -1;          // the token whose state represents the text; negative: the last

  [[nodiscard]] int64_t dim() const override { return head.weight.defined() ? head.weight.size(0) : shape.width; }
  [[nodiscard]] bool compares_with_images() const override { return head.weight.defined(); }

 protected:
  [[nodiscard]] at::Tensor states(const at::Tensor& tokens) const override {
    const int64_t t = tokens.size(1);
    at::Tensor x = embedded(tokens);
    at::Tensor hidden;
    if (!sees_behind) hidden = at::full({t, t}, -std::numeric_limits<float>::infinity()).triu(1);
    for (const auto& layer : layers) x = run_layer(layer, shape, x, hidden);
    const at::Tensor state = after(state_of_text(tokens, x));
    return head.weight.defined() ? head(state) : state;
  }

 private:
  [[nodiscard]] at::Tensor state_of_text(const at::Tensor& tokens, const at::Tensor& all) const {
    if (end < 0) return all.select(1, -1);
    const at::Tensor ends = end == kLargestEnds ? tokens.argmax(1) : tokens.eq(end).to(at::kInt).argmax(1);
    return all.index({at::arange(tokens.size(0), at::kLong), ends});
  }
};

/// Makes the parts that both families have under the same names.
std::unique_ptr<ImageTextTower> tower_beside_images(Weights& weights, const huggingface::TransformerShape& shape) {
  auto tower = std::make_unique<ImageTextTower>();
  tower->shape = shape;
  tower->embeddings = weights.take("embeddings.token_embedding.weight", {-1, shape.width});
  tower->positions = weights.take("embeddings.position_embedding.weight", {-1, shape.width});
  tower->layers = huggingface::layers_of(weights, "encoder.layers.", huggingface::kClipLayers, shape);
  tower->after = huggingface::norm(weights, "final_layer_norm", shape.width, shape.epsilon);
  return tower;
}

}  // namespace

/// Radford et al., 2021, section 2.4: a token attends to itself and earlier ones, and the state of the end token
/// represents the text.
std::unique_ptr<Tower> make_clip_tower(const nlohmann::json& config, const Tensors& tensors,
                                       const SentenceModules& /*modules*/) {
  Weights weights(tensors, "CLIP (texts)", "embeddings.token_embedding.weight");
  const huggingface::TransformerShape usual = {512, 8, 2048, 1, 1e-5, nullptr};
  auto tower = tower_beside_images(weights, huggingface::shape_of(config, usual, "quick_gelu"));
  tower->sees_behind = false;
  constexpr int64_t kUsualEnd = 49407;
  tower->end = huggingface::config_integer(config, "eos_token_id", kUsualEnd);
  constexpr const char* kProjection = "text_projection.weight";
  weights.check_all_taken({"text_projection.", "visual_projection.", "vision_model.", "logit_scale"});
  if (tensors.count(kProjection) > 0)
    tower->head.weight = Weights(tensors, "CLIP (texts)", kProjection).take(kProjection, {-1, tower->shape.width});
  return tower;
}

/// Zhai et al., ICCV 2023: every token attends to all others, including padding, and the state of the last one
/// represents the text.
std::unique_ptr<Tower> make_siglip_tower(const nlohmann::json& config, const Tensors& tensors,
                                         const SentenceModules& /*modules*/) {
  Weights weights(tensors, "SigLIP (texts)", "embeddings.token_embedding.weight");
  const huggingface::TransformerShape usual = {768, 12, 3072, 1, 1e-6, nullptr};
  auto tower = tower_beside_images(weights, huggingface::shape_of(config, usual, "gelu_pytorch_tanh"));
  tower->head.weight = weights.take("head.weight", {-1, tower->shape.width});
  tower->head.bias = weights.take("head.bias", {tower->head.weight.size(0)});
  weights.check_all_taken({"vision_model.", "logit_scale", "logit_bias"});
  return tower;
}

}  // namespace protocom::text
