#include <ATen/ATen.h>

#include <limits>

#include "nn/huggingface/layers.h"
#include "nn/text/tower.h"
#include "protocom/core/error.h"

namespace protocom::text {
namespace {

using huggingface::Tensors;
using huggingface::Weights;

/// What stands around the layers of CLIP's text tower (Radford et al., 2021, section 2.4).
struct ClipParts {
  huggingface::TransformerShape shape;
  at::Tensor embeddings;  // [v, w]
  at::Tensor positions;   // [longest, w]
  std::vector<huggingface::TransformerLayer> layers;
  huggingface::Norm after;
  at::Tensor projection;  // [d, w]; undefined: none
  int64_t end = 0;        // the token whose state is the text's
};

/// config.json of the first checkpoints names 2, which is not what ends their texts: for it `transformers` takes the
/// largest token, as OpenAI's code does for all.
constexpr int64_t kLargestEnds = 2;

class ClipTower : public Tower {
 public:
  explicit ClipTower(ClipParts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] at::Tensor vectors(const at::Tensor& tokens) const override {
    const int64_t t = tokens.size(1);
    at::Tensor x = at::embedding(parts_.embeddings, tokens) + parts_.positions.narrow(0, 0, t);  // [n, t, w]
    // A token sees itself and those before it.
    const at::Tensor hidden = at::full({t, t}, -std::numeric_limits<float>::infinity()).triu(1);
    for (const auto& layer : parts_.layers) x = run_layer(layer, parts_.shape, x, hidden);
    const at::Tensor ends =
        parts_.end == kLargestEnds ? tokens.argmax(1) : tokens.eq(parts_.end).to(at::kInt).argmax(1);
    const at::Tensor rows = at::arange(tokens.size(0), at::kLong);
    const at::Tensor states = parts_.after(x.index({rows, ends}));
    return parts_.projection.defined() ? at::linear(states, parts_.projection) : states;
  }
  [[nodiscard]] int64_t longest() const override { return parts_.positions.size(0); }
  [[nodiscard]] int64_t vocabulary() const override { return parts_.embeddings.size(0); }
  [[nodiscard]] int64_t dim() const override {
    return parts_.projection.defined() ? parts_.projection.size(0) : parts_.shape.width;
  }
  [[nodiscard]] bool compares_with_images() const override { return parts_.projection.defined(); }

 private:
  ClipParts parts_;
};

}  // namespace

std::unique_ptr<Tower> make_clip_tower(const nlohmann::json& config, const Tensors& tensors,
                                       const SentenceModules& /*modules*/) {
  Weights weights(tensors, "CLIP (texts)", "embeddings.token_embedding.weight");
  ClipParts parts;
  const huggingface::TransformerShape usual = {512, 8, 2048, 1, 1e-5, nullptr};
  parts.shape = huggingface::shape_of(config, usual, "quick_gelu");
  const int64_t width = parts.shape.width;
  parts.embeddings = weights.take("embeddings.token_embedding.weight", {-1, width});
  parts.positions = weights.take("embeddings.position_embedding.weight", {-1, width});
  parts.layers = huggingface::layers_of(weights, "encoder.layers.", huggingface::kClipLayers, parts.shape);
  parts.after = huggingface::norm(weights, "final_layer_norm", width, parts.shape.epsilon);
  constexpr int64_t kUsualEnd = 49407;
  parts.end = huggingface::whole_of(config, "eos_token_id", kUsualEnd);
  constexpr const char* kProjection = "text_projection.weight";
  weights.check_all_taken({"text_projection.", "visual_projection.", "vision_model.", "logit_scale"});
  if (tensors.count(kProjection) > 0)
    parts.projection = Weights(tensors, "CLIP (texts)", kProjection).take(kProjection, {-1, width});
  return std::make_unique<ClipTower>(std::move(parts));
}

}  // namespace protocom::text
