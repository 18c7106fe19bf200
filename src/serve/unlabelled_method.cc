#include "serve/unlabelled_method.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "protocom/fewshot/methods.h"
#include "protocom/serve/store_model.h"

namespace protocom {
namespace {

/// Of the tensors of a method that learns from them: the images whose class nobody has said.
constexpr const char* kUnlabelledTensor = "unlabelled";

using NamedTensor = std::pair<std::string, at::Tensor>;

auto find_tensor(std::vector<NamedTensor>& tensors, const char* name) {
  return std::find_if(tensors.begin(), tensors.end(), [&](const NamedTensor& one) { return one.first == name; });
}

}  // namespace

int64_t unlabelled_in(MethodState state) {
  const auto held = find_tensor(state.tensors, kUnlabelledTensor);
  return held == state.tensors.end() ? 0 : held->second.size(0);
}

std::shared_ptr<const Method> with_unlabelled(const std::shared_ptr<const Method>& method, const at::Tensor& images) {
  if (!images.defined() || images.size(0) == 0 || !learns_from_unlabelled(*method)) return method;
  MethodState state = method->state();
  const auto held = find_tensor(state.tensors, kUnlabelledTensor);
  if (held == state.tensors.end())
    state.tensors.emplace_back(kUnlabelledTensor, images);
  else
    held->second = at::cat({held->second.to(at::kFloat), images});
  std::unique_ptr<Method> made = make_method(method->label());
  made->load(state);
  return made;
}

std::shared_ptr<const Method> without_unlabelled(const std::shared_ptr<const Method>& method) {
  MethodState state = method->state();
  const auto held = find_tensor(state.tensors, kUnlabelledTensor);
  if (held == state.tensors.end()) return method;
  state.tensors.erase(held);
  std::unique_ptr<Method> made = make_method(method->label());
  made->load(state);
  return made;
}

}  // namespace protocom
