#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "networks/text/detail/tower.h"
#include "tensors/unit_vectors.h"

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

/// Returns the bucket of each distance between two tokens, int64 [t, t]: near ones have their own, farther ones share
/// one on a logarithmic scale, as in T5.
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

class SentenceTower : public TensorTower {
 public:
  at::Tensor distances;  // [buckets, heads], MPNet's; undefined: none
  huggingface::Norm norm;
  SentenceModules modules;

 protected:
  [[nodiscard]] at::Tensor states(const at::Tensor& tokens) const override {
    at::Tensor x = norm(embedded(tokens));
    at::Tensor bias;
    if (distances.defined())
      bias = at::embedding(distances, buckets_of(tokens.size(1), distances.size(0))).permute({2, 0, 1});  // [h, t, t]
    for (const auto& layer : layers) x = run_layer_with_norms_behind(layer, shape, x, bias);
    const at::Tensor pooled = modules.pooling == Pooling::kMean ? x.mean(1) : x.select(1, 0);
    return modules.normalise ? unit_vectors(pooled) : pooled;
  }
};

/// Makes the parts that both families have under the same names.
std::unique_ptr<SentenceTower> tower_of_sentences(Weights& weights, const nlohmann::json& config,
                                                  const SentenceModules& modules, const LayerNames& names) {
  auto tower = std::make_unique<SentenceTower>();
  tower->modules = modules;
  tower->shape = huggingface::shape_of(config, kBertBase, "gelu");
  const int64_t width = tower->shape.width;
  tower->embeddings = weights.take("embeddings.word_embeddings.weight", {-1, width});
  tower->positions = weights.take("embeddings.position_embeddings.weight", {-1, width});
  tower->norm = huggingface::norm(weights, "embeddings.LayerNorm", width, tower->shape.epsilon);
  // Counted by its first norm, whose name is not the layer's own.
  tower->layers = huggingface::layers_of(weights, "encoder.layer.", names, tower->shape);
  return tower;
}

}  // namespace

std::unique_ptr<Tower> make_bert_tower(const nlohmann::json& config, const Tensors& tensors,
                                       const SentenceModules& modules) {
  if (const std::string kind = huggingface::config_text(config, "position_embedding_type", "absolute");
      kind != "absolute")
    fail("config.json: position_embedding_type '{}' is not supported, expected 'absolute'", excerpt(kind));
  Weights weights(tensors, "BERT", "embeddings.word_embeddings.weight");
  auto tower = tower_of_sentences(weights, config, modules, kBertLayers);
  // Every token belongs to the first of two sentences.
  const at::Tensor types = weights.take("embeddings.token_type_embeddings.weight", {-1, tower->shape.width});
  tower->positions = tower->positions + types[0];
  weights.check_all_taken({"pooler.", "cls.", "classifier."});
  return tower;
}

std::unique_ptr<Tower> make_mpnet_tower(const nlohmann::json& config, const Tensors& tensors,
                                        const SentenceModules& modules) {
  Weights weights(tensors, "MPNet", "embeddings.word_embeddings.weight");
  auto tower = tower_of_sentences(weights, config, modules, kMpnetLayers);
  tower->distances = weights.take("encoder.relative_attention_bias.weight", {-1, tower->shape.heads});
  constexpr int64_t kFewestBuckets = 4;  // two directions, near and far
  if (tower->distances.size(0) < kFewestBuckets)
    fail("tensor 'encoder.relative_attention_bias.weight' of the family MPNet has {} rows", tower->distances.size(0));
  constexpr int64_t kFirstPlace = 2;  // after that of padding
  if (tower->positions.size(0) <= kFirstPlace)
    fail("tensor 'embeddings.position_embeddings.weight' of the family MPNet has {} rows", tower->positions.size(0));
  tower->positions = tower->positions.slice(0, kFirstPlace);
  weights.check_all_taken({"pooler.", "lm_head.", "classifier."});
  return tower;
}

}  // namespace protocom::text
