#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "networks/huggingface/detail/network.h"
#include "networks/huggingface/detail/weights.h"

/// Common parts of image and text transformers.
namespace protocom::huggingface {

/// Computes x W' + b over the last axis.
struct Linear {
  at::Tensor weight, bias;  // [out, in], [out]
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

/// Layer normalisation over the last axis.
struct Norm {
  at::Tensor weight, bias;  // [width]
  double epsilon = 1e-6;
  /// Computes in float32, whatever type x has.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;
};

/// Read NAME.weight and NAME.bias. Throw Error as Weights::take does.
Linear linear(Weights& weights, const std::string& name, int64_t in, int64_t out);
Norm norm(Weights& weights, const std::string& name, int64_t width, double epsilon);

/// Concatenates query, key and value: [3 width, width].
Linear stacked(const Linear& a, const Linear& b, const Linear& c);

/// Computes softmax(Q K' / sqrt(width of a head) + bias) V over heads; q [n, t, w], k and v [n, s, w] -> [n, t, w].
/// `bias` (minus infinity: masked) broadcasts to [n, heads, t, s], or has [w, heads, t, s], which repeats for n = m w;
/// undefined: none. Throws Error for more than 2^28 logits per image: a small patch_size makes many tokens.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, int64_t heads,
                     const at::Tensor& bias = {});

/// How positions are resized to another grid, bicubic: to its size, to its size with antialiasing (timm, DINOv2 with
/// registers), or by the factor (new + 0.1) / old, as in DINOv2's own code.
enum class Stretch { kPlain, kAntialiased, kByFactor };

/// Resizes `positions` [1, own + g * g, w] for rows x columns patches; the first `own` of them are unchanged. Throws
/// Error if the others do not form a square.
at::Tensor positions_for(const at::Tensor& positions, int64_t own, at::IntArrayRef grid, Stretch stretch);

/// The names of a layer's parts in a family.
struct LayerNames {
  const char *query, *key, *value, *projection, *norm1, *norm2, *fc1, *fc2;
  const char *scale1 = nullptr, *scale2 = nullptr;
};

/// CLIP's and SigLIP's, in both of their towers.
inline constexpr LayerNames kClipLayers = {
    ".self_attn.q_proj", ".self_attn.k_proj", ".self_attn.v_proj", ".self_attn.out_proj",
    ".layer_norm1",      ".layer_norm2",      ".mlp.fc1",          ".mlp.fc2"};

/// The weights of one layer.
struct TransformerLayer {
  Norm norm1, norm2;
  Linear qkv, projection, fc1, fc2;
  at::Tensor scale1, scale2;  // undefined: none
};

/// The properties of a transformer, common to all families.
struct TransformerShape {
  int64_t width, heads, mlp, patch;
  double epsilon;
  Activation activation;
  bool gated = false;  ///< whether the MLP's first layer is twice as wide: act(a) b
};

/// Reads the shape from config.json, else `usual`; `activation` is the default name of one. Throws Error.
TransformerShape shape_of(const nlohmann::json& config, const TransformerShape& usual, const char* activation);

/// Reads the layers BEGIN0, BEGIN1, ... Throws Error if there is none, or for more than 512.
std::vector<TransformerLayer> layers_of(Weights& weights, const std::string& begin, const LayerNames& names,
                                        const TransformerShape& shape);

/// Returns branch x scale; the branch unchanged if `scale` is undefined.
at::Tensor scaled(const at::Tensor& branch, const at::Tensor& scale);

/// Runs one layer with norms before its branches; x [n, t, w] -> [n, t, w]. `bias` as in attention().
at::Tensor run_layer(const TransformerLayer& layer, const TransformerShape& shape, at::Tensor x,
                     const at::Tensor& bias = {});
/// Runs one with norms after its branches, like BERT's.
at::Tensor run_layer_with_norms_behind(const TransformerLayer& layer, const TransformerShape& shape, at::Tensor x,
                                       const at::Tensor& bias = {});

}  // namespace protocom::huggingface
