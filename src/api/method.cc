#include "protocom/method.h"

#include <algorithm>

#include "api/detail/boundary.h"
#include "api/detail/parts.h"
#include "base/error.h"
#include "base/matrix.h"
#include "fewshot/add_method.h"
#include "fewshot/methods.h"
#include "fewshot/paper/describe_task.h"
#include "fewshot/task_classifier.h"

namespace protocom::v0 {
namespace {

MethodInfo info_of(const protocom::MethodSpec& spec) {
  MethodInfo info;
  info.name = spec.name;
  info.about = spec.about;
  info.citation = spec.citation;
  info.mode = spec.mode();
  for (const protocom::Need need : spec.needs) {
    if (is_optional(spec, need))
      info.optional.emplace_back(protocom::to_string(need));
    else if (need == protocom::Need::kFitting)
      info.needs_fitting = true;
    else
      info.needs.emplace_back(protocom::to_string(need));
  }
  info.balanced = spec.assumes == protocom::Assumes::kBalancedQueries;
  info.fewest_shots = spec.fewest_shots;
  for (const protocom::ParameterSpec& parameter : spec.parameters)
    info.parameters.push_back({parameter.name, protocom::to_string(parameter.default_value), parameter.low,
                               parameter.high, parameter.choices, parameter.text, parameter.when_fitted});
  return info;
}

LabelledFeatures labelled(const protocom::FeatureSet& set) { return {set.features, set.labels}; }

Matrix plain(const FloatMatrix& values) {
  return {{values.data(), values.data() + values.size()}, values.rows(), values.cols()};
}

/// `names` are those of all classes, from names_for().
protocom::TaskInputs task_of(const Rows& features, const Labels& labels, const std::vector<std::string>& names,
                             const ClassifierOptions& options) {
  check_one_label_a_row(labels, features.rows());
  protocom::TaskInputs task;
  if (!options.class_names.empty() || !labels.names().empty()) task.class_names = names;
  task.classes = static_cast<int64_t>(names.size());
  if (features.rows() > 0) {
    task.features = array_of(features, "features");
    task.labels = Array::of(labels.numbers());
  }
  task.feature_dim = options.fitted.empty() ? (features.rows() > 0 ? 0 : features.dim()) : options.fitted.front().dim();
  if (options.knowledge) task.knowledge = options.knowledge->impl().knowledge;
  if (options.model) task.model = options.model->impl().model;
  if (options.base) task.base = labelled(options.base->impl().set);
  task.seed = options.seed;
  return task;
}

}  // namespace

std::vector<MethodInfo> methods() {
  return guarded([] {
    std::vector<MethodInfo> all;
    for (const protocom::MethodSpec* spec : method_specs()) all.push_back(info_of(*spec));
    for (const protocom::MethodSpec* spec : added_method_specs()) all.push_back(info_of(*spec));
    return all;
  });
}

std::string method_label(const std::string& method) {
  return guarded([&] { return checked_label(method); });
}

struct Classifier::Impl {
  std::unique_ptr<const protocom::TaskClassifier> task;
  std::vector<std::string> names;
  std::string method;
  Warnings warnings;
};

Classifier::Classifier(const std::string& method, const Rows& features, const Labels& labels,
                       const ClassifierOptions& options)
    : impl_(guarded([&] {
        const Collected collected;
        const auto own = make_task_method(method, fitted_of(options.fitted));
        auto impl = std::make_unique<Impl>();
        impl->names = names_for(labels, options.class_names);
        protocom::TaskInputs task = task_of(features, labels, impl->names, options);
        describe_task(task);
        impl->method = own->label();
        impl->task = std::make_unique<const protocom::TaskClassifier>(own, std::move(task));
        impl->warnings = collected.warnings();
        return impl;
      })) {}

Classifier::~Classifier() = default;
Classifier::Classifier(Classifier&& other) noexcept = default;
Classifier& Classifier::operator=(Classifier&& other) noexcept = default;

Matrix Classifier::scores(const Rows& queries) const {
  return guarded([&] { return plain(impl_->task->score(array_of(queries, "queries")).logits); });
}

Matrix Classifier::probabilities(const Rows& queries, const std::vector<double>& shares) const {
  return guarded([&] {
    const Array given = shares.empty() ? Array() : Array::of(shares);
    return plain(impl_->task->probabilities(array_of(queries, "queries"), given));
  });
}

std::vector<int64_t> Classifier::predict(const Rows& queries) const {
  return guarded([&] {
    const Matrix logits = scores(queries);
    std::vector<int64_t> winners;
    for (int64_t i = 0; i < logits.rows; ++i)
      winners.push_back(std::max_element(logits.row(i), logits.row(i) + logits.columns) - logits.row(i));
    return winners;
  });
}

const std::vector<std::string>& Classifier::class_names() const { return impl_->names; }
int64_t Classifier::dim() const { return impl_->task->feature_dim(); }
std::string Classifier::method() const { return impl_->method; }
const Warnings& Classifier::warnings() const { return impl_->warnings; }

}  // namespace protocom::v0
