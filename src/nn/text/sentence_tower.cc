#include <ATen/ATen.h>

#include <cmath>

#include "nn/huggingface/layers.h"
#include "nn/text/tower.h"
#include "protocom/core/error.h"
#include "protocom/nn/unit_vectors.h"

/// BERT (Devlin et al., NAACL 2019) and MPNet (Song et al., NeurIPS 2020) as sentence encoders: the mean of all states,
/// or the first one.
namespace protocom::text {
namespace {

using huggingface::LayerNames;
using huggingface::Tensors;
using huggingface::Weights;

constexpr LayerNames kBertLayers = {
    ".attention.self.query",       ".attention.self.key", ".attention.self.value", ".attention.output.dense",
    ".attention.output.LayerNorm", ".output.LayerNorm",   ".intermediate.dense",   ".output.dense"};
constexpr LayerNames kMpnetLayers = {".attention.attn.q",   ".attention.attn.k",    ".attention.attn.v",
                                     ".attention.attn.o",   ".attention.LayerNorm", ".output.LayerNorm",
                                     ".intermediate.dense", ".output.dense"};
constexpr huggingface::TransformerShape kBertBase = {768, 12, 3072, 1, 1e-12, nullptr};

struct SentenceParts {
  huggingface::TransformerShape shape;
  at::Tensor embeddings;  // [v, w]
  at::Tensor positions;   // [longest, w]
  at::Tensor distances;   // [buckets, heads], MPNet's; undefined: none
  huggingface::Norm norm;
  std::vector<huggingface::TransformerLayer> layers;
  SentenceModules modules;
};

/// In which bucket each distance between two tokens is, int64 [t, t]: near ones have their own, farther ones share one
/// on a scale of logarithms, as T5's.
at::Tensor buckets_of(int64_t t, int64_t buckets) {
  constexpr double kFarthest = 128;
  const at::Tensor places = at::arange(t, at::kLong);
  const at::Tensor back = places.unsqueeze(1) - places.unsqueeze(0);  // [t, t], how far before it
  const int64_t half = buckets / 2;
  const int64_t exact = half / 2;
  const at::Tensor distance = back.abs();
  const at::Tensor far = (exact + ((distance.to(at::kFloat) / static_cast<double>(exact)).log() /
                                   std::log(kFarthest / static_cast<double>(exact)) * static_cast<double>(half - exact))
                                      .clamp_min(0)
                                      .to(at::kLong))
                             .clamp_max(half - 1);
  return back.lt(0).to(at::kLong) * half + at::where(distance.lt(exact), distance, far);
}

class SentenceTower : public Tower {
 public:
  explicit SentenceTower(SentenceParts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] at::Tensor vectors(const at::Tensor& tokens) const override {
    const int64_t t = tokens.size(1);
    at::Tensor x = parts_.norm(at::embedding(parts_.embeddings, tokens) + parts_.positions.narrow(0, 0, t));
    at::Tensor bias;
    if (parts_.distances.defined())
      bias = at::embedding(parts_.distances, buckets_of(t, parts_.distances.size(0))).permute({2, 0, 1});  // [h, t, t]
    for (const auto& layer : parts_.layers) x = run_layer_with_norms_behind(layer, parts_.shape, x, bias);
    const at::Tensor pooled = parts_.modules.pooling == Pooling::kMean ? x.mean(1) : x.select(1, 0);
    return parts_.modules.normalise ? unit_vectors(pooled) : pooled;
  }
  [[nodiscard]] int64_t longest() const override { return parts_.positions.size(0); }
  [[nodiscard]] int64_t vocabulary() const override { return parts_.embeddings.size(0); }
  [[nodiscard]] int64_t dim() const override { return parts_.shape.width; }

 private:
  SentenceParts parts_;
};

/// What both families have under the same names.
SentenceParts common_parts(Weights& weights, const nlohmann::json& config, const SentenceModules& modules,
                           const LayerNames& names) {
  SentenceParts parts;
  parts.modules = modules;
  parts.shape = huggingface::shape_of(config, kBertBase, "gelu");
  const int64_t width = parts.shape.width;
  parts.embeddings = weights.take("embeddings.word_embeddings.weight", {-1, width});
  parts.positions = weights.take("embeddings.position_embeddings.weight", {-1, width});
  parts.norm = huggingface::norm(weights, "embeddings.LayerNorm", width, parts.shape.epsilon);
  // Counted by its first norm, whose name is not the layer's own.
  parts.layers = huggingface::layers_of(weights, "encoder.layer.", names, parts.shape);
  return parts;
}

}  // namespace

std::unique_ptr<Tower> make_bert_tower(const nlohmann::json& config, const Tensors& tensors,
                                       const SentenceModules& modules) {
  if (const std::string kind = huggingface::text_of(config, "position_embedding_type", "absolute"); kind != "absolute")
    fail("config.json: the position_embedding_type '{}' of a BERT is not known, expected 'absolute'", excerpt(kind));
  Weights weights(tensors, "BERT", "embeddings.word_embeddings.weight");
  SentenceParts parts = common_parts(weights, config, modules, kBertLayers);
  // Every token is of the first of two sentences.
  const at::Tensor types = weights.take("embeddings.token_type_embeddings.weight", {-1, parts.shape.width});
  parts.positions = parts.positions + types[0];
  weights.check_all_taken({"pooler.", "cls.", "classifier."});
  return std::make_unique<SentenceTower>(std::move(parts));
}

std::unique_ptr<Tower> make_mpnet_tower(const nlohmann::json& config, const Tensors& tensors,
                                        const SentenceModules& modules) {
  Weights weights(tensors, "MPNet", "embeddings.word_embeddings.weight");
  SentenceParts parts = common_parts(weights, config, modules, kMpnetLayers);
  parts.distances = weights.take("encoder.relative_attention_bias.weight", {-1, parts.shape.heads});
  constexpr int64_t kFewestBuckets = 4;  // two directions, near and far
  if (parts.distances.size(0) < kFewestBuckets)
    fail("tensor 'encoder.relative_attention_bias.weight' of the family MPNet has {} rows", parts.distances.size(0));
  constexpr int64_t kFirstPlace = 2;  // after that of padding
  if (parts.positions.size(0) <= kFirstPlace)
    fail("tensor 'embeddings.position_embeddings.weight' of the family MPNet has {} rows", parts.positions.size(0));
  parts.positions = parts.positions.slice(0, kFirstPlace);
  weights.check_all_taken({"pooler.", "lm_head.", "classifier."});
  return std::make_unique<SentenceTower>(std::move(parts));
}

}  // namespace protocom::text
