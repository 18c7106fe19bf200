#include "networks/onnx/detail/attention.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"

namespace protocom::onnx {
namespace {

/// Returns the sizes [n, heads, tokens, width].
Sizes by_heads(const Binding& binding, size_t input, const char* name) {
  const Sizes& sizes = binding.sizes(input);
  if (sizes.size() == 4) return sizes;
  const int64_t heads = binding.whole(name, 0);
  if (sizes.size() != 3 || heads < 1 || sizes[2] % heads != 0)
    fail("input {} is [{}] with {}={}, expected [n, heads, tokens, width] or [n, tokens, heads * width]", input + 1,
         fmt::join(sizes, ", "), name, heads);
  return {sizes[0], heads, sizes[1], sizes[2] / heads};
}

struct Heads {
  Sizes query, key, value;

  [[nodiscard]] Sizes weights() const { return {query[0], query[1], query[2], key[2]}; }
};

Heads heads_of(const Binding& binding) {
  Heads heads{by_heads(binding, 0, "q_num_heads"), by_heads(binding, 1, "kv_num_heads"),
              by_heads(binding, 2, "kv_num_heads")};
  const bool fits = heads.key[1] > 0 && heads.query[1] % heads.key[1] == 0 && heads.key[1] == heads.value[1] &&
                    heads.query[3] == heads.key[3] && heads.key[2] == heads.value[2] && heads.query[3] > 0;
  if (!fits)
    fail("queries [{}], keys [{}] and values [{}] do not match", fmt::join(heads.query, ", "),
         fmt::join(heads.key, ", "), fmt::join(heads.value, ", "));
  return heads;
}

at::Tensor in_heads(const at::Tensor& x, int64_t heads) {
  return x.dim() == 4 ? x : x.unflatten(-1, at::IntArrayRef({heads, x.size(-1) / heads})).transpose(1, 2);
}

/// Repeats each key head for consecutive query heads if keys have fewer heads.
at::Tensor repeated(const at::Tensor& x, int64_t heads) {
  return x.size(1) == heads ? x : x.repeat_interleave(heads / x.size(1), 1);
}

/// Returns the mask to add to the logits; a Boolean mask is true for visible tokens.
at::Tensor additive_mask(const at::Tensor& mask) {
  if (mask.scalar_type() != at::kBool) return mask;
  return at::zeros(mask.sizes(), mask.options().dtype(at::kFloat)).masked_fill_(mask.logical_not(), -INFINITY);
}

void refuse_what_texts_need(const Binding& binding) {
  if (binding.whole("is_causal", 0) != 0) fail("is_causal=1 is not supported");
  if (binding.number("softcap", 0) != 0) fail("softcap is not supported");
  if (binding.has(4) || binding.has(5) || binding.has(6) || binding.outputs() > 1)
    fail("keys and values of earlier tokens are not supported");
}

}  // namespace

double attention_work(const Binding& binding) {
  const Heads heads = heads_of(binding);
  double work = static_cast<double>(heads.query[3] + heads.value[3]);
  for (const int64_t size : heads.weights()) work *= static_cast<double>(size);
  return work;
}

Operation make_attention(const Binding& binding) {
  refuse_what_texts_need(binding);
  const Heads heads = heads_of(binding);
  check_elements(heads.weights());
  if (binding.has(3) && broadcast(heads.weights(), binding.sizes(3)) != heads.weights())
    fail("the mask [{}] does not match the attention weights [{}]", fmt::join(binding.sizes(3), ", "),
         fmt::join(heads.weights(), ", "));
  const double scale = binding.number("scale", 1 / std::sqrt(static_cast<double>(heads.query[3])));
  const bool joined = binding.sizes(0).size() == 3;
  return one_output([=](Tensors& in) {
    const at::Tensor query = in_heads(in.at(0), heads.query[1]) * scale;
    const at::Tensor key = repeated(in_heads(in.at(1), heads.key[1]), heads.query[1]);
    const at::Tensor value = repeated(in_heads(in.at(2), heads.key[1]), heads.query[1]);
    at::Tensor logits = at::matmul(query, key.transpose(-2, -1));
    if (in.size() > 3 && in[3].defined()) logits += additive_mask(in[3]);
    const at::Tensor seen = at::matmul(at::softmax(logits, -1), value);
    return joined ? seen.transpose(1, 2).flatten(2) : seen;
  });
}

}  // namespace protocom::onnx
