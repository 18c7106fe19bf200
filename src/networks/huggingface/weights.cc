#include "networks/huggingface/detail/weights.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace protocom::huggingface {
namespace {

bool begins_with(const std::string& text, const std::string& begin) { return text.rfind(begin, 0) == 0; }

}  // namespace

Weights::Weights(const std::map<std::string, at::Tensor>& tensors, std::string family, const std::string& first)
    : tensors_(tensors), family_(std::move(family)) {
  if (tensors.count(first) > 0) return;
  for (const auto& [name, tensor] : tensors) {
    if (!ends_with(name, "." + first)) continue;
    prefix_ = name.substr(0, name.size() - first.size());
    return;
  }
  fail("missing tensor '{}', which a network of the family {} has: export it to ONNX", first, family_);
}

at::Tensor Weights::take_if_there(const std::string& name, const std::vector<int64_t>& sizes) {
  return has(name) ? take(name, sizes) : at::Tensor();
}

at::Tensor Weights::take(const std::string& name, const std::vector<int64_t>& sizes) {
  const auto found = tensors_.find(prefix_ + name);
  if (found == tensors_.end())
    fail("missing tensor '{}{}', which a network of the family {} has: export it to ONNX", prefix_, name, family_);
  const at::Tensor& tensor = found->second;
  bool fits = tensor.dim() == static_cast<int64_t>(sizes.size());
  for (size_t i = 0; fits && i < sizes.size(); ++i)
    fits = tensor.size(static_cast<int64_t>(i)) > 0 &&
           (sizes[i] == -1 || tensor.size(static_cast<int64_t>(i)) == sizes[i]);
  if (!fits) {
    fail("tensor '{}' is [{}], in a network of the family {} it is [{}] (-1: any)", found->first,
         fmt::join(tensor.sizes(), ", "), family_, fmt::join(sizes, ", "));
  }
  taken_.insert(found->first);
  at::Tensor copy = tensor.to(at::kFloat).clone();
  if (!at::isfinite(copy).all().item<bool>()) fail("tensor '{}' is not finite", found->first);
  return copy;
}

int64_t Weights::count(const std::string& begin, const std::string& end) const {
  int64_t number = 0;
  while (has(fmt::format("{}{}{}", begin, number, end))) ++number;
  return number;
}

void Weights::check_all_taken(const std::vector<std::string>& others) const {
  for (const auto& [name, tensor] : tensors_) {
    if (taken_.count(name) > 0 || !begins_with(name, prefix_)) continue;
    const std::string own = name.substr(prefix_.size());
    const bool other =
        std::any_of(others.begin(), others.end(), [&](const std::string& text) { return begins_with(own, text); });
    const bool counter = ends_with(name, "num_batches_tracked") || ends_with(name, "position_ids") ||
                         ends_with(name, "relative_position_index");
    if (!other && !counter) fail("unknown tensor '{}' in a network of the family {}: export it to ONNX", name, family_);
  }
}

std::map<std::string, at::Tensor> with_zero_biases(const std::map<std::string, at::Tensor>& tensors,
                                                   const std::string& end) {
  std::map<std::string, at::Tensor> all = tensors;
  for (const auto& [name, tensor] : tensors) {
    if (ends_with(name, end) && tensor.dim() == 2)
      all.emplace(name.substr(0, name.size() - std::string("weight").size()) + "bias",
                  at::zeros({tensor.size(0)}, tensor.options()));
  }
  return all;
}

}  // namespace protocom::huggingface
