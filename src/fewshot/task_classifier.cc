#include "fewshot/task_classifier.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/feature_values.h"
#include "fewshot/methods.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

std::string sizes_of(const at::Tensor& tensor) {
  return tensor.defined() ? fmt::format("[{}]", fmt::join(tensor.sizes(), ", ")) : "nothing";
}

/// float32 [any, d], finite.
at::Tensor checked_rows(const at::Tensor& rows, const char* what) {
  if (!rows.defined() || rows.dim() != 2 || rows.size(0) == 0 || rows.size(1) == 0)
    fail("{} should be a row of numbers per image, [n, d] with n and d above 0; found {}", what, sizes_of(rows));
  if (!at::isFloatingType(rows.scalar_type()))
    fail("{} should be float32 or float64, found {}", what, c10::toString(rows.scalar_type()));
  at::Tensor floats = rows.to(at::kCPU, at::kFloat).contiguous();
  check_features(array_of(floats), what);
  return floats;
}

at::Tensor checked_labels(const at::Tensor& labels, int64_t rows, int64_t classes) {
  if (!labels.defined() || labels.dim() != 1 || labels.size(0) != rows)
    fail("there are {} features and labels {}: one label a feature was expected", rows, sizes_of(labels));
  if (!at::isIntegralType(labels.scalar_type(), false))
    fail("labels should be whole numbers, found {}", c10::toString(labels.scalar_type()));
  at::Tensor whole = labels.to(at::kCPU, at::kLong).contiguous();
  const auto* values = whole.data_ptr<int64_t>();
  const auto [low, high] = std::minmax_element(values, values + rows);
  if (*low < 0 || *high >= classes) fail("labels run from {} to {}, there are {} classes", *low, *high, classes);
  return whole;
}

/// Labelled images of each class.
std::vector<int64_t> counts_of(const TaskInputs& inputs) {
  std::vector<int64_t> counts(static_cast<size_t>(inputs.classes));
  if (!inputs.labels.defined()) return counts;
  const auto* labels = inputs.labels.data_ptr<int64_t>();
  for (int64_t i = 0; i < inputs.labels.size(0); ++i) ++counts[static_cast<size_t>(labels[i])];
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

/// With everything in the types that methods take.
TaskInputs checked_inputs(TaskInputs inputs, const Method& method) {
  if (inputs.classes < 1) fail("a task needs at least one class, found {}", inputs.classes);
  const auto names = static_cast<int64_t>(inputs.class_names.size());
  if (names > 0 && names != inputs.classes) fail("there are {} class names for {} classes", names, inputs.classes);
  if (inputs.knowledge && names == 0) fail("knowledge is of classes by their names, and these have none");
  if (inputs.features.defined() || inputs.feature_dim == 0) {
    inputs.features = checked_rows(inputs.features, "features");
    inputs.labels = checked_labels(inputs.labels, inputs.features.size(0), inputs.classes);
    const int64_t d = inputs.features.size(1);
    if (inputs.feature_dim > 0 && inputs.feature_dim != d)
      fail("features have {} numbers each, '{}' was fitted on {}", d, method.label(), inputs.feature_dim);
    inputs.feature_dim = d;
  }
  if (inputs.base.features.defined()) {
    inputs.base.features = checked_rows(inputs.base.features, "features of base classes");
    if (inputs.base.features.size(1) != inputs.feature_dim)
      fail("features of base classes have {} numbers, those of the task {}", inputs.base.features.size(1),
           inputs.feature_dim);
  }
  check_counts(inputs, method);
  return inputs;
}

/// The method adapted to the labelled images of the classes that have some; itself where it stays as it is.
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
  const at::Tensor labels = at::tensor(number, at::kLong).index_select(0, inputs.labels);
  AdaptedMethod made = method->adapted(inputs.features, labels, static_cast<int64_t>(there.size()));
  if (!made.method) return unchanged;
  made.unlabelled = made.unlabelled.among(inputs.classes, there);
  return made;
}

at::Tensor checked_shares(const at::Tensor& shares, int64_t classes) {
  if (shares.dim() != 1 || shares.size(0) != classes)
    fail("shares should be one number per class, [{}], found {}", classes, sizes_of(shares));
  at::Tensor floats = shares.to(at::kFloat);
  if (!floats.ge(0).all().item<bool>() || !floats.sum().gt(0).item<bool>())
    fail("shares of the classes should be at least 0, and some above it");
  return floats.unsqueeze(0);
}

}  // namespace

std::shared_ptr<const Method> make_task_method(const std::string& text, const std::vector<FittedMethod>& fitted) {
  const bool takes = make_method(text)->spec().has(Need::kFitting);
  return make_method(text, takes ? fitted : std::vector<FittedMethod>());
}

TaskClassifier::TaskClassifier(std::shared_ptr<const Method> method, TaskInputs inputs)
    : method_(std::move(method)), inputs_(checked_inputs(std::move(inputs), *method_)) {
  const at::NoGradGuard no_grad;
  feature_dim_ = inputs_.feature_dim;
  check_needs(*method_, context());
  const AdaptedMethod adapted = adapted_to(inputs_, method_);
  method_ = adapted.method;
  scorer_ = method_->prepare(context());
  episode_ = with_soft_supports(supports(), adapted.unlabelled);
  if (scorer_->placer() != nullptr) {
    placed_ = scorer_->placer()->place(episode_);
    episode_ = EpisodeBatch();
  } else if (const auto map = scorer_->feature_transform()) {
    episode_.support = map->map(episode_.support);
    if (episode_.support_mask.defined()) episode_.support *= episode_.support_mask.unsqueeze(-1);
  }
  inputs_.features.reset();  // of no more use, and as large as everything else
  inputs_.labels.reset();
}

TaskClassifier::~TaskClassifier() = default;

MethodContext TaskClassifier::context() const {
  MethodContext context;
  context.model = inputs_.model.get();
  context.classes = inputs_.described.get();
  context.knowledge = inputs_.knowledge.get();
  if (!inputs_.class_names.empty()) context.class_names = &inputs_.class_names;
  if (inputs_.base.features.defined()) context.base = &inputs_.base;
  return context;
}

EpisodeBatch TaskClassifier::supports() const {
  const std::vector<int64_t> counts = counts_of(inputs_);
  const int64_t most = *std::max_element(counts.begin(), counts.end());
  EpisodeBatch batch;
  batch.support = at::zeros({1, inputs_.classes, most, feature_dim_});
  batch.support_mask = at::zeros({1, inputs_.classes, most});
  batch.query = at::zeros({1, 0, feature_dim_});
  batch.classes = at::arange(inputs_.classes, at::kLong).unsqueeze(0);
  batch.seed = {inputs_.seed};
  auto* support = batch.support.data_ptr<float>();
  auto* mask = batch.support_mask.data_ptr<float>();
  std::vector<int64_t> next(counts.size());
  for (int64_t i = 0; inputs_.features.defined() && i < inputs_.features.size(0); ++i) {
    const int64_t label = inputs_.labels.data_ptr<int64_t>()[i];
    const int64_t place = label * most + next[static_cast<size_t>(label)]++;
    std::copy_n(inputs_.features.data_ptr<float>() + i * feature_dim_, feature_dim_, support + place * feature_dim_);
    mask[place] = 1;
  }
  // Methods take the same way for full classes as in an episode that has no mask.
  if (scorer_->placer() == nullptr && *std::min_element(counts.begin(), counts.end()) == most)
    batch.support_mask = at::Tensor();
  return batch;
}

QueryScores TaskClassifier::score(const at::Tensor& queries, const at::Tensor& shares) const {
  const at::NoGradGuard no_grad;
  const at::Tensor rows = checked_rows(queries, "queries");
  if (rows.size(1) != feature_dim_)
    fail("queries have {} numbers each, the labelled features have {}", rows.size(1), feature_dim_);
  const auto of_one = [](const EpisodeScores& scores) -> QueryScores {
    return {scores.logits.squeeze(0), scores.unseen.defined() ? scores.unseen.squeeze(0) : at::Tensor()};
  };
  if (scorer_->placer() != nullptr) return of_one(scorer_->placer()->score(placed_, rows));
  EpisodeBatch episode = episode_;
  const auto map = scorer_->feature_transform();
  episode.query = (map == nullptr ? rows : map->map(rows)).unsqueeze(0);
  if (shares.defined()) episode.shares = checked_shares(shares, inputs_.classes);
  return of_one(scorer_->score_mapped(episode));
}

}  // namespace protocom
