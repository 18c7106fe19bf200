#include "fewshot/task_classifier.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/feature_values.h"
#include "fewshot/methods.h"

namespace protocom {
namespace {

std::string sizes_of(const Array& array) {
  return array.defined() ? fmt::format("[{}]", fmt::join(array.shape(), ", ")) : "nothing";
}

/// Returns the rows as float32 [any, d]. Throws Error unless they are finite.
Array checked_rows(const Array& rows, const char* what) {
  if (!rows.defined() || rows.dim() != 2 || rows.size(0) == 0 || rows.size(1) == 0)
    fail("{}: expected a row of numbers per image, [n, d] with n and d above 0, found {}", what, sizes_of(rows));
  if (!is_real(rows.type())) fail("{}: expected float32 or float64, found {}", what, to_string(rows.type()));
  Array floats = rows.to(NumberType::kFloat32);
  check_features(floats, what);
  return floats;
}

Array checked_labels(const Array& labels, int64_t rows, int64_t classes) {
  if (!labels.defined() || labels.dim() != 1 || labels.size(0) != rows)
    fail("expected one label per feature, found {} features and labels {}", rows, sizes_of(labels));
  if (is_real(labels.type()) || labels.type() == NumberType::kBool)
    fail("labels: expected whole numbers, found {}", to_string(labels.type()));
  Array whole = labels.to(NumberType::kInt64);
  const auto* values = whole.data<int64_t>();
  const auto [low, high] = std::minmax_element(values, values + rows);
  if (*low < 0 || *high >= classes) fail("labels run from {} to {}, there are {} classes", *low, *high, classes);
  return whole;
}

std::vector<int64_t> labels_of(const TaskInputs& inputs) {
  if (!inputs.labels.defined()) return {};
  const auto* labels = inputs.labels.data<int64_t>();
  return {labels, labels + inputs.labels.numel()};
}

/// Returns the number of labelled images of each class.
std::vector<int64_t> counts_of(const TaskInputs& inputs) {
  std::vector<int64_t> counts(static_cast<size_t>(inputs.classes));
  for (const int64_t k : labels_of(inputs)) ++counts[static_cast<size_t>(k)];
  return counts;
}

std::string name_of(const TaskInputs& inputs, size_t k) {
  return inputs.class_names.empty() ? std::to_string(k) : inputs.class_names[k];
}

void check_counts(const TaskInputs& inputs, const Method& method) {
  const std::vector<int64_t> counts = counts_of(inputs);
  for (size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] < method.spec().fewest_shots)
      fail("class '{}' has {} labelled images, '{}' needs {}", name_of(inputs, k), counts[k], method.label(),
           method.spec().fewest_shots);
  }
}

/// Returns the inputs converted to the types that methods take.
TaskInputs checked_inputs(TaskInputs inputs, const Method& method) {
  if (inputs.classes < 1) fail("a task needs at least one class, found {}", inputs.classes);
  const auto names = static_cast<int64_t>(inputs.class_names.size());
  if (names > 0 && names != inputs.classes) fail("there are {} class names for {} classes", names, inputs.classes);
  if (inputs.knowledge && names == 0) fail("knowledge needs the names of the classes");
  if (inputs.features.defined() || inputs.feature_dim == 0) {
    inputs.features = checked_rows(inputs.features, "features");
    inputs.labels = checked_labels(inputs.labels, inputs.features.size(0), inputs.classes);
    const int64_t d = inputs.features.size(1);
    if (inputs.feature_dim > 0 && inputs.feature_dim != d)
      fail("features of {} dimensions, '{}' was fitted on {}", d, method.label(), inputs.feature_dim);
    inputs.feature_dim = d;
  }
  if (inputs.base.features.defined()) {
    inputs.base.features = checked_rows(inputs.base.features, "features of base classes");
    if (inputs.base.features.size(1) != inputs.feature_dim)
      fail("features of base classes have {} dimensions, those of the task {}", inputs.base.features.size(1),
           inputs.feature_dim);
  }
  check_counts(inputs, method);
  return inputs;
}

/// Returns the method adapted to the labelled images of the classes that have some; the method itself if it does not
/// adapt.
AdaptedMethod adapted_to(const TaskInputs& inputs, const std::shared_ptr<const Method>& method) {
  AdaptedMethod unchanged;
  unchanged.method = method;
  if (!inputs.features.defined()) return unchanged;
  const std::vector<int64_t> counts = counts_of(inputs);
  std::vector<int64_t> there, number(counts.size(), -1);
  for (size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    number[k] = static_cast<int64_t>(there.size());
    there.push_back(static_cast<int64_t>(k));
  }
  std::vector<int64_t> labels = labels_of(inputs);
  for (int64_t& label : labels) label = number[static_cast<size_t>(label)];
  AdaptedMethod made = method->adapted(matrix_of<float>(inputs.features), labels, static_cast<int64_t>(there.size()));
  if (!made.method) return unchanged;
  made.unlabelled = made.unlabelled.among(inputs.classes, there);
  return made;
}

std::vector<float> checked_shares(const Array& shares, int64_t classes) {
  if (shares.dim() != 1 || shares.size(0) != classes)
    fail("shares: expected one number per class, [{}], found {}", classes, sizes_of(shares));
  const Array floats = shares.to(NumberType::kFloat32);
  std::vector<float> all(floats.data<float>(), floats.data<float>() + classes);
  const bool above = std::all_of(all.begin(), all.end(), [](float share) { return share >= 0; });
  if (!above || !(std::accumulate(all.begin(), all.end(), 0.0) > 0))
    fail("shares of the classes: expected at least 0, and not all 0");
  return all;
}

/// Returns the labelled images of a task.
TaskImages images_of(const TaskInputs& inputs) {
  TaskImages images;
  if (inputs.features.defined())
    images = TaskImages::of(matrix_of<float>(inputs.features), labels_of(inputs), inputs.classes);
  else
    images = TaskImages::of(FloatMatrix(0, inputs.feature_dim), {}, inputs.classes);
  images.seed = inputs.seed;
  return images;
}

}  // namespace

std::shared_ptr<const Method> make_task_method(const std::string& text, const std::vector<FittedMethod>& fitted) {
  const bool takes = make_method(text)->spec().has(Need::kFitting);
  return make_method(text, takes ? fitted : std::vector<FittedMethod>());
}

TaskClassifier::TaskClassifier(std::shared_ptr<const Method> method, TaskInputs inputs)
    : method_(std::move(method)), inputs_(checked_inputs(std::move(inputs), *method_)) {
  feature_dim_ = inputs_.feature_dim;
  check_needs(*method_, context());
  const AdaptedMethod adapted = adapted_to(inputs_, method_);
  method_ = adapted.method;
  prepared_ = method_->prepare(context());
  const TaskImages images = with_soft_supports(images_of(inputs_), adapted.unlabelled);
  if (const ClassPlacer* placer = prepared_.placer_of_task())
    placed_ = placer->place(images);
  else
    images_ = images.mapped(prepared_.space.get());
  inputs_.features = Array();  // no longer needed, and as large as everything else
  inputs_.labels = Array();
}

TaskClassifier::TaskClassifier(PlacedTask task) : feature_dim_(task.feature_dim), placed_(std::move(task.placed)) {
  std::unique_ptr<Method> method = make_method(task.method);
  if (!task.state.empty()) method->load(task.state);
  method_ = std::move(method);
  inputs_.classes = task.classes;
  inputs_.feature_dim = feature_dim_;
  inputs_.base = std::move(task.base);
  prepared_ = method_->prepare(context());
  const auto fits = [&](const Array& rows) { return rows.defined() && rows.dim() > 0 && rows.size(0) == task.classes; };
  if (prepared_.placer_of_task() == nullptr || placed_.empty() || !std::all_of(placed_.begin(), placed_.end(), fits))
    fail("the stored classes of '{}' are damaged or of another version of protocom: fit again", task.method);
}

TaskClassifier::~TaskClassifier() = default;

std::optional<PlacedTask> TaskClassifier::placed() const {
  const bool alone = !inputs_.knowledge && !inputs_.model && !inputs_.described;
  if (prepared_.placer_of_task() == nullptr || !alone) return std::nullopt;
  return PlacedTask{method_->label(), method_->state(), placed_, inputs_.base, inputs_.classes, feature_dim_};
}

MethodContext TaskClassifier::context() const {
  MethodContext context;
  context.model = inputs_.model.get();
  context.classes = inputs_.described.get();
  context.knowledge = inputs_.knowledge.get();
  if (!inputs_.class_names.empty()) context.class_names = &inputs_.class_names;
  if (inputs_.base.features.defined()) context.base = &inputs_.base;
  return context;
}

QueryScores TaskClassifier::score(const Array& queries, const Array& shares) const {
  const Array rows = checked_rows(queries, "queries");
  if (rows.size(1) != feature_dim_)
    fail("queries have {} dimensions, the labelled features {}", rows.size(1), feature_dim_);
  if (const ClassPlacer* placer = prepared_.placer_of_task()) return placer->score(placed_, matrix_of<float>(rows));
  if (!shares.defined()) return answer_of(prepared_, images_, matrix_of<float>(rows));
  TaskImages told = images_;
  told.shares = checked_shares(shares, inputs_.classes);
  return answer_of(prepared_, told, matrix_of<float>(rows));
}

FloatMatrix TaskClassifier::probabilities(const Array& queries, const Array& shares) const {
  FloatMatrix rows = score(queries, shares).logits;
  for (int64_t i = 0; i < rows.rows(); ++i) {
    auto row = rows.row(i).array();
    row = (row - row.maxCoeff()).exp();
    row /= row.sum();
  }
  return rows;
}

}  // namespace protocom
