#include "networks/huggingface/detail/checkpoint_tensors.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace protocom::huggingface {
namespace {

/// Returns the number of heads: they are 64 wide except in the largest networks. Throws Error for other widths.
int64_t heads_of(int64_t width) {
  constexpr int64_t kHead = 64;
  constexpr std::array<int64_t, 5> kOfSixteen = {1152, 1280, 1408, 1536, 1664};
  if (std::find(kOfSixteen.begin(), kOfSixteen.end(), width) != kOfSixteen.end()) return 16;
  if (width < kHead || width % kHead != 0)
    fail("tokens are {} wide, expected a multiple of {}: export the network to ONNX", width, kHead);
  return width / kHead;
}

}  // namespace

void split_qkv(Tensors& tensors, const std::string& joined, const std::string& end) {
  std::vector<std::string> found;
  for (const auto& [name, tensor] : tensors) {
    if (ends_with(name, joined) && tensor.dim() >= 1 && tensor.size(0) % 3 == 0) found.push_back(name);
  }
  for (const std::string& name : found) {
    const auto parts = tensors.at(name).chunk(3);
    const std::string begin = name.substr(0, name.size() - joined.size());
    for (size_t i = 0; i < parts.size(); ++i) tensors[fmt::format("{}.{}{}", begin, "qkv"[i], end)] = parts[i];
    tensors.erase(name);
  }
}

void drop(Tensors& tensors, const std::string& begin) {
  for (auto item = tensors.lower_bound(begin); item != tensors.end() && item->first.rfind(begin, 0) == 0;)
    item = tensors.erase(item);
}

void drop_head_and_split(Tensors& tensors) {
  drop(tensors, "head.");
  split_qkv(tensors, ".qkv.weight", ".weight");
  split_qkv(tensors, ".qkv.bias", ".bias");
}

Tensors below(const Tensors& tensors, const std::string& begin) {
  Tensors found;
  for (auto item = tensors.lower_bound(begin); item != tensors.end() && item->first.rfind(begin, 0) == 0; ++item)
    found[item->first.substr(begin.size())] = item->second;
  return found;
}

bool has(const Tensors& tensors, const char* name) { return tensors.count(name) > 0; }

at::IntArrayRef tensor_sizes(const Tensors& tensors, const std::string& name, int64_t dims) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || found->second.dim() != dims)
    fail("expected a tensor '{}' of {} sizes: export the network to ONNX", name, dims);
  return found->second.sizes();
}

nlohmann::json transformer_config(const Tensors& tensors, const char* type, const char* patches, const char* inner) {
  const at::IntArrayRef patch = tensor_sizes(tensors, patches, 4);
  const int64_t width = patch[0];
  const int64_t mlp = tensor_sizes(tensors, inner, 2)[0];
  return {{"model_type", type},
          {"hidden_size", width},
          {"num_attention_heads", heads_of(width)},
          {"intermediate_size", mlp},
          {"mlp_ratio", mlp / std::max<int64_t>(width, 1)},
          {"patch_size", patch[2]},
          {"antialiased_positions", true}};
}

}  // namespace protocom::huggingface
