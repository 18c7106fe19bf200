#include "fewshot/plda/detail/state.h"

#include <algorithm>

#include "base/error.h"
#include "base/to_whole.h"
#include "fewshot/plda/detail/state_matrices.h"

namespace protocom {
namespace {

constexpr double kLeastScale = 1e-6;  // fitted scales are hundredths to units, and logs are divided by them
constexpr double kMostDims = 1 << 30;
constexpr double kMostSteps = 10'000;  // fitted models have tens; a value from a file must be bounded

/// Visits the name and the member of each number of a model; `Model` is PldaModel or a const one.
template <typename Model, typename Visit>
void visit_numbers(Model& model, const Visit& visit) {
  visit("attribute_weight", model.knowledge_options.attribute_weight);
  visit("word_weight", model.knowledge_options.word_weight);
  visit("ridge", model.knowledge_options.ridge);
  visit("trust", model.vb.trust);
  visit("spread", model.vb.spread);
  visit("concentration", model.vb.concentration);
  visit("explained", model.explained);
}

/// Visits the numbers that depend on the number of labelled images.
template <typename Model, typename Visit>
void visit_shots(Model& model, const Visit& visit) {
  visit("inductive_scale", model.inductive_scale);
  visit("transductive_scale", model.transductive_scale);
  visit("known_slope", model.known_slope);
  visit("known_offset", model.known_offset);
  if (!model.known_by_best) visit("known_alike", model.known_alike);
}

/// Visits the numbers of PldaAdaptation.
template <typename Adaptation, typename Visit>
void visit_adaptation(Adaptation& adaptation, const Visit& visit) {
  visit("adaptation.degrees", adaptation.degrees);
  visit("adaptation.scale_degrees", adaptation.scale_degrees);
  visit("adaptation.center_classes", adaptation.center_classes);
  visit("adaptation.added_between", adaptation.added_between);
}

/// Visits the numbers that bound a batch.
template <typename Options, typename Visit>
void visit_batch(Options& vb, const Visit& visit) {
  visit("batch.plausible", vb.plausible);
  visit("batch.least_weight", vb.least_weight);
  visit("batch.degrees", vb.degrees);
}

/// Returns a number, checked to be in a range.
double bounded(const MethodState& state, const char* name, double least, double most) {
  const double value = number_in(state, name);
  if (!(value >= least && value <= most)) fail("'{}' is {}, expected {} to {}", name, value, least, most);
  return value;
}

int64_t count_in(const MethodState& state, const char* name, double least, double most) {
  return to_whole<int64_t>(bounded(state, name, least, most));
}

void read_shots(const MethodState& state, PldaModel& model) {
  model.known_by_best = !has_tensor(state, "known_alike");
  visit_shots(model, [&](const char* name, ByShots& value) {
    const DoubleVector numbers = numbers_in(state, name, 3);
    value = {numbers[0], numbers[1], numbers[2]};
  });
  for (const ByShots* scale : {&model.inductive_scale, &model.transductive_scale}) {
    const double least = std::min({scale->none, scale->one, scale->five});
    if (!(least >= kLeastScale)) fail("scale of probabilities: expected at least {}, found {}", kLeastScale, least);
  }
  const double alike = std::min({model.known_alike.none, model.known_alike.one, model.known_alike.five});
  if (alike < 0) fail("'known_alike' is {}, expected at least 0", alike);
}

PldaAdaptation read_adaptation(const MethodState& state) {
  PldaAdaptation adaptation;
  if (!has_tensor(state, "adaptation.degrees")) return adaptation;
  visit_adaptation(adaptation, [&](const char* name, double& value) { value = number_in(state, name); });
  adaptation.isotropic = bounded(state, "adaptation.isotropic", 0, 1) != 0;
  if (!(adaptation.degrees > 0)) fail("'adaptation.degrees' is {}, expected a number above 0", adaptation.degrees);
  const double least = std::min(adaptation.scale_degrees, adaptation.center_classes);
  if (least < 0) fail("'adaptation' holds {}, expected at least 0", least);
  return adaptation;
}

void read_batch(const MethodState& state, PldaVbOptions& vb) {
  if (!has_tensor(state, "batch.plausible")) return;
  visit_batch(vb, [&](const char* name, double& value) { value = number_in(state, name); });
  for (const double share : {vb.plausible, vb.least_weight}) {
    if (!(share > 0 && share <= 1)) fail("'batch' holds {}, expected a number above 0 and up to 1", share);
  }
  if (vb.degrees < 0) fail("'batch.degrees' is {}, expected at least 0", vb.degrees);
}

DoubleVector variance(const MethodState& state, const std::string& name, int64_t size) {
  DoubleVector values = numbers_in(state, name, size);
  if ((values.array() < 0).any()) fail("'{}' holds a negative variance", name);
  return values;
}

}  // namespace

MethodState state_of(const PldaModel& model, const std::vector<std::string>& attributes) {
  MethodState state;
  const auto add = [&](const char* name, double value) { add_number(state, name, value); };
  add("leading", static_cast<double>(model.space.leading));
  add("steps", static_cast<double>(model.vb.steps));
  visit_numbers(model, add);
  visit_shots(model, [&](const char* name, const ByShots& value) {
    add_array(state, name, Array::of<double>({value.none, value.one, value.five}));
  });
  if (model.adaptation.adapts()) {
    visit_adaptation(model.adaptation, add);
    add("adaptation.isotropic", model.adaptation.isotropic ? 1 : 0);
  }
  if (model.vb.plausible > 0) visit_batch(model.vb, add);
  if (model.unlabelled.defined()) add_array(state, "unlabelled", model.unlabelled);
  if (model.adaptation.isotropic) return state;
  if (model.space.root) add_number(state, "root", 1);
  add_numbers(state, "center", model.space.center);
  add_array(state, "projection", array_of_matrix(model.space.projection));
  add_numbers(state, "offset", model.space.offset);
  add_numbers(state, "between", model.space.between);
  add_numbers(state, "residual", model.residual);
  if (!model.knowledge) return state;
  state.attributes = attributes;
  add_number(state, "explained_left_out", model.explained_left_out);
  model.knowledge->add_to(state);
  return state;
}

PldaModel plda_model_of(const MethodState& state) {
  PldaModel model;
  model.space.leading = count_in(state, "leading", 1, kMostDims);
  model.vb.steps = count_in(state, "steps", 0, kMostSteps);
  visit_numbers(model, [&](const char* name, double& value) { value = number_in(state, name); });
  read_shots(state, model);
  model.adaptation = read_adaptation(state);
  read_batch(state, model.vb);
  if (has_tensor(state, "unlabelled"))
    model.unlabelled = array_of_matrix(matrix_in(state, "unlabelled", -1, -1)).to(NumberType::kFloat32);
  if (model.unlabelled.defined() && !model.adaptation.adapts())
    fail("unexpected 'unlabelled': only a method with 'adaptation.degrees' has it");
  if (model.adaptation.isotropic) return model;
  model.space.root = has_tensor(state, "root");
  model.space.center = numbers_in(state, "center", -1);
  model.space.projection = matrix_in(state, "projection", model.space.center.size(), -1);
  const int64_t dims = model.space.projection.cols();
  model.space.offset = numbers_in(state, "offset", dims);
  model.space.between = variance(state, "between", dims);
  model.residual = variance(state, "residual", dims);
  if (model.space.leading > dims) fail("{} leading dimensions, expected at most {}", model.space.leading, dims);
  model.knowledge = load_prior(state, model.knowledge_options, dims);
  if (has_tensor(state, "explained_left_out")) model.explained_left_out = number_in(state, "explained_left_out");
  return model;
}

}  // namespace protocom
