#include "fewshot/plda_state.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "protocom/core/error.h"

namespace protocom {
namespace {

/// What depends on the number of labelled images, in the order of the tensor "by_shots".
template <typename Model>
auto by_shots(Model& model) {
  return std::array{&model.inductive_scale, &model.transductive_scale, &model.known_slope, &model.known_offset};
}

/// The numbers of a model, in the order of the tensor "settings".
std::vector<double> settings_of(const PldaModel& model) {
  return {static_cast<double>(model.space.leading),
          model.knowledge_options.attribute_weight,
          model.knowledge_options.word_weight,
          model.knowledge_options.ridge,
          static_cast<double>(model.vb.steps),
          model.vb.trust,
          model.vb.spread,
          model.vb.concentration,
          model.explained};
}

void set_settings(const at::Tensor& settings, PldaModel& model) {
  const auto value = settings.accessor<double, 1>();
  model.space.leading = static_cast<int64_t>(value[0]);
  model.knowledge_options = {value[1], value[2], value[3]};
  model.vb.steps = static_cast<int64_t>(value[4]);
  model.vb.trust = value[5];
  model.vb.spread = value[6];
  model.vb.concentration = value[7];
  model.explained = value[8];
  if (model.vb.steps < 0) fail("the fitted method has {} steps, expected at least 0", model.vb.steps);
}

at::Tensor tensor_of_shots(const PldaModel& model) {
  std::vector<double> values;
  for (const ByShots* one : by_shots(model)) values.insert(values.end(), {one->none, one->one, one->five});
  return at::tensor(values, at::kDouble).view({4, 3});
}

void set_shots(const at::Tensor& values, PldaModel& model) {
  if (!values.narrow(0, 0, 2).gt(0).all().item<bool>())
    fail("'by_shots' holds a scale of probabilities that is not above 0");
  const auto value = values.accessor<double, 2>();
  int64_t row = 0;
  for (ByShots* one : by_shots(model)) {
    *one = {value[row][0], value[row][1], value[row][2]};
    ++row;
  }
}

/// A finite tensor of this shape, in float64; -1: any size.
at::Tensor finite(const MethodState& state, const std::string& name, at::IntArrayRef shape) {
  const at::Tensor tensor = state.at(name).to(at::kDouble).contiguous();
  bool fits = tensor.dim() == static_cast<int64_t>(shape.size());
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] < 0 || tensor.size(static_cast<int64_t>(i)) == shape[i];
  if (!fits) {
    fail("'{}' has the shape [{}], expected [{}] (-1: any size)", name, fmt::join(tensor.sizes(), ", "),
         fmt::join(shape, ", "));
  }
  if (!tensor.isfinite().all().item<bool>()) fail("'{}' holds a value that is not finite; fit the method again", name);
  return tensor;
}

at::Tensor variance(const MethodState& state, const std::string& name, int64_t size) {
  at::Tensor values = finite(state, name, {size});
  if (values.lt(0).any().item<bool>()) fail("'{}' holds a negative variance", name);
  return values;
}

bool has(const MethodState& state, const std::string& name) {
  return std::any_of(state.tensors.begin(), state.tensors.end(), [&](const auto& one) { return one.first == name; });
}

KernelRidge knowledge_of(const MethodState& state, const KernelRidgeOptions& options, int64_t dims) {
  at::Tensor dual = finite(state, "dual", {-1, dims});
  const int64_t classes = dual.size(0);
  DescriptionRows base;
  if (has(state, "attribute_rows")) {
    base.attributes = finite(state, "attribute_rows", {classes, static_cast<int64_t>(state.attributes.size())});
    base.idf = finite(state, "attribute_idf", {base.attributes.size(1)});
  }
  if (has(state, "embedding_rows")) {
    base.embeddings = finite(state, "embedding_rows", {classes, -1});
    base.embedding_center = finite(state, "embedding_center", {base.embeddings.size(1)});
  }
  if (!base.attributes.defined() && !base.embeddings.defined())
    fail("expected 'attribute_rows' or 'embedding_rows' beside 'dual', found neither");
  return {DescriptionKernel(std::move(base), options), std::move(dual)};
}

}  // namespace

MethodState state_of(const PldaModel& model, const std::vector<std::string>& attributes) {
  MethodState state;
  const auto add = [&](const char* name, const at::Tensor& tensor) {
    if (tensor.defined()) state.tensors.emplace_back(name, tensor.contiguous());
  };
  add("settings", at::tensor(settings_of(model), at::kDouble));
  add("by_shots", tensor_of_shots(model));
  add("center", model.space.center);
  add("projection", model.space.projection);
  add("offset", model.space.offset);
  add("between", model.space.between);
  add("residual", model.residual);
  if (!model.knowledge) return state;
  state.attributes = attributes;
  add("dual", model.knowledge->dual);
  const DescriptionRows& base = model.knowledge->kernel.base();
  add("attribute_rows", base.attributes);
  add("attribute_idf", base.idf);
  add("embedding_rows", base.embeddings);
  add("embedding_center", base.embedding_center);
  return state;
}

PldaModel plda_model_of(const MethodState& state) {
  PldaModel model;
  set_settings(finite(state, "settings", {static_cast<int64_t>(settings_of(model).size())}), model);
  set_shots(finite(state, "by_shots", {4, 3}), model);
  model.space.center = finite(state, "center", {-1});
  model.space.projection = finite(state, "projection", {model.space.center.size(0), -1});
  const int64_t dims = model.space.projection.size(1);
  model.space.offset = finite(state, "offset", {dims});
  model.space.between = variance(state, "between", dims);
  model.residual = variance(state, "residual", dims);
  if (model.space.leading < 1 || model.space.leading > dims)
    fail("{} leading dimensions, expected 1 to {}", model.space.leading, dims);
  if (has(state, "dual")) model.knowledge = knowledge_of(state, model.knowledge_options, dims);
  return model;
}

}  // namespace protocom
