#include "fewshot/plda/detail/state.h"

#include <array>

#include "base/error.h"
#include "base/to_whole.h"
#include "fewshot/plda/detail/state_matrices.h"

namespace protocom {
namespace {

/// What depends on the number of labelled images, in the order of the rows of "by_shots"; the files that judge what is
/// known by the best class do without the last.
template <typename Model>
auto by_shots(Model& model) {
  return std::array{&model.inductive_scale, &model.transductive_scale, &model.known_slope, &model.known_offset,
                    &model.known_alike};
}
constexpr int64_t kFormerRows = 4;

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

constexpr double kLeastScale = 1e-6;  // a fit finds hundredths to units, and logs are divided by it
constexpr double kMostDims = 1 << 30;
constexpr double kMostSteps = 10'000;  // a fit keeps tens; what a file asks for has to end

/// A count that is kept as a number.
int64_t count_in(double value, double least, double most, const char* of) {
  if (!(value >= least && value <= most))
    fail("the fitted method has {} {}, expected {} to {}", value, of, least, most);
  return to_whole<int64_t>(value);
}

void set_settings(const DoubleVector& value, PldaModel& model) {
  model.space.leading = count_in(value[0], 1, kMostDims, "leading dimensions");
  model.knowledge_options = {value[1], value[2], value[3]};
  model.vb.steps = count_in(value[4], 0, kMostSteps, "steps");
  model.vb.trust = value[5];
  model.vb.spread = value[6];
  model.vb.concentration = value[7];
  model.explained = value[8];
}

DoubleMatrix matrix_of_shots(const PldaModel& model) {
  const auto shots = by_shots(model);
  DoubleMatrix rows(model.known_by_best ? kFormerRows : static_cast<int64_t>(shots.size()), 3);
  for (int64_t i = 0; i < rows.rows(); ++i) {
    const ByShots& own = *shots[static_cast<size_t>(i)];
    rows.row(i) << own.none, own.one, own.five;
  }
  return rows;
}

void set_shots(const DoubleMatrix& values, PldaModel& model) {
  const auto rows = by_shots(model);
  model.known_by_best = values.rows() == kFormerRows;
  if (!model.known_by_best && values.rows() != static_cast<int64_t>(rows.size()))
    fail("'by_shots' has {} rows, expected {}", values.rows(), rows.size());
  if (!(values.topRows(2).array() >= kLeastScale).all())
    fail("'by_shots': scales of probabilities: expected at least {}, found {}", kLeastScale,
         values.topRows(2).minCoeff());
  for (int64_t i = 0; i < values.rows(); ++i)
    *rows[static_cast<size_t>(i)] = {values(i, 0), values(i, 1), values(i, 2)};
  for (const double alike : {model.known_alike.none, model.known_alike.one, model.known_alike.five}) {
    if (alike < 0) fail("'by_shots' has the share {} of similar classes, expected at least 0", alike);
  }
}

DoubleVector variance(const MethodState& state, const std::string& name, int64_t size) {
  DoubleVector values = numbers_in(state, name, size);
  if ((values.array() < 0).any()) fail("'{}' holds a negative variance", name);
  return values;
}

std::vector<double> values_of(const PldaAdaptation& adaptation) {
  return {adaptation.degrees, adaptation.scale_degrees, adaptation.center_classes, adaptation.isotropic ? 1.0 : 0.0,
          adaptation.added_between};
}

/// Files of before the variance between classes followed the images have four numbers.
PldaAdaptation adaptation_of(const DoubleVector& value) {
  if (value.size() < 4 || value.size() > 5) fail("'adaptation' holds {} numbers, expected 5", value.size());
  if (!(value[0] > 0) || value[1] < 0 || value[2] < 0 || (value[3] != 0 && value[3] != 1))
    fail("'adaptation' holds {}, {}, {}, {}: expected a number above 0, two of at least 0, and 0 or 1", value[0],
         value[1], value[2], value[3]);
  PldaAdaptation adaptation{value[0], value[1], value[2], value[3] == 1};
  if (value.size() == 5) adaptation.added_between = value[4];
  return adaptation;
}

/// Files of before the covariance followed a batch have two numbers.
void bound_batch(const DoubleVector& value, PldaVbOptions& vb) {
  const auto in_unit = [&](int64_t i) { return value[i] > 0 && value[i] <= 1; };
  if (value.size() < 2 || value.size() > 3) fail("'batch' holds {} numbers, expected 3", value.size());
  if (!in_unit(0) || !in_unit(1))
    fail("'batch' holds {} and {}, expected numbers above 0 and up to 1", value[0], value[1]);
  vb.plausible = value[0];
  vb.least_weight = value[1];
  if (value.size() == 3) vb.degrees = value[2];
  if (vb.degrees < 0) fail("'batch' holds {} degrees, expected at least 0", vb.degrees);
}

}  // namespace

MethodState state_of(const PldaModel& model, const std::vector<std::string>& attributes) {
  MethodState state;
  const auto add = [&](const char* name, const std::vector<double>& values) {
    add_array(state, name, Array::of<double>(values));
  };
  add("settings", settings_of(model));
  add_array(state, "by_shots", array_of_matrix(matrix_of_shots(model)));
  if (model.adaptation.adapts()) add("adaptation", values_of(model.adaptation));
  if (model.vb.plausible > 0) add("batch", {model.vb.plausible, model.vb.least_weight, model.vb.degrees});
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
  set_settings(numbers_in(state, "settings", static_cast<int64_t>(settings_of(model).size())), model);
  set_shots(matrix_in(state, "by_shots", -1, 3), model);
  if (has_tensor(state, "adaptation")) model.adaptation = adaptation_of(numbers_in(state, "adaptation", -1));
  if (has_tensor(state, "batch")) bound_batch(numbers_in(state, "batch", -1), model.vb);
  if (has_tensor(state, "unlabelled"))
    model.unlabelled = array_of_matrix(matrix_in(state, "unlabelled", -1, -1)).to(NumberType::kFloat32);
  if (model.unlabelled.defined() && !model.adaptation.adapts())
    fail("unexpected 'unlabelled': only a method with 'adaptation' has it");
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
