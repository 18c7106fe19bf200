#include "protocom/serve/recognizer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "protocom/core/error.h"

namespace protocom {
namespace {

at::Tensor rows(const ClassStore& store, const at::Tensor& (*field)(const StoredClass&)) {
  std::vector<at::Tensor> result;
  for (const StoredClass& one : store.classes) result.push_back(field(one));
  return at::stack(result).to(at::kFloat);
}

SupportStatistics statistics(const ClassStore& store) {
  std::vector<double> count;
  for (const StoredClass& one : store.classes) {
    if (one.count < 1) fail("class '{}' of the store has no image", one.name);
    count.push_back(static_cast<double>(one.count));
  }
  return {at::tensor(count, at::kDouble).to(at::kFloat).unsqueeze(0),
          rows(store, [](const StoredClass& one) -> const at::Tensor& { return one.sum; }).unsqueeze(0),
          rows(store, [](const StoredClass& one) -> const at::Tensor& { return one.sum_squares; }).unsqueeze(0)};
}

void check_fits(const ClassStore& store, const CompletionModel& model) {
  if (store.classes.empty()) fail("the store has no class yet; enrol one first");
  if (model.attributes != store.attributes) fail("the completion model has other attributes than the store");
  const ProtoComNetOptions& sizes = model.network.options();
  if (sizes.feature_dim != store.feature_dim) {
    fail("the completion model takes features of {} dimensions, the store's have {}", sizes.feature_dim,
         store.feature_dim);
  }
  const int64_t embedding_dim = store.classes.front().description.embedding.numel();
  if (sizes.embedding_dim != embedding_dim) {
    fail("the completion model takes class embeddings of {} dimensions, the store's have {}", sizes.embedding_dim,
         embedding_dim);
  }
}

void check_dim(const at::Tensor& features, int64_t dim) {
  if (features.dim() == 2 && features.size(1) == dim) return;
  fail("features of the shape [{}], expected [any, {}] as the store's", fmt::join(features.sizes(), ", "), dim);
}

}  // namespace

Recognizer::Recognizer(const ClassStore& store, const CompletionModel& model, const RecognizerOptions& options)
    : method_(make_method(options.method)) {
  const at::NoGradGuard no_grad;
  check_fits(store, model);
  if (method_->spec().has(Need::kSupportImages))
    fail_usage("'{}' needs each support image's feature; a class store keeps the moments of each class only",
               options.method);
  for (const StoredClass& one : store.classes) class_names_.push_back(one.name);
  support_ = statistics(store);
  knowledge_ = {rows(store, [](const StoredClass& one) -> const at::Tensor& { return one.description.association; }),
                rows(store, [](const StoredClass& one) -> const at::Tensor& { return one.description.embedding; })};
  MethodContext context;
  context.model = &model;
  context.classes = &knowledge_;
  check_needs(*method_, context);
  scorer_ = method_->prepare(context);
}

EpisodeScores Recognizer::score(const at::Tensor& features) const {
  const at::NoGradGuard no_grad;
  check_dim(features, support_.sum.size(2));
  EpisodeBatch batch;
  batch.query = features.to(at::kFloat).unsqueeze(0);
  batch.moments = support_;
  batch.classes = at::arange(support_.sum.size(1), at::kLong).unsqueeze(0);
  return scorer_->score(batch);
}

at::Tensor Recognizer::prototypes(const at::Tensor& features) const { return score(features).prototypes.squeeze(0); }

at::Tensor Recognizer::probabilities(const at::Tensor& features) const {
  return score(features).logits.squeeze(0).softmax(-1);
}

std::vector<std::vector<RankedClass>> rank_classes(const at::Tensor& probabilities,
                                                   const std::vector<std::string>& class_names, int64_t top) {
  const auto classes = static_cast<int64_t>(class_names.size());
  if (probabilities.dim() != 2 || probabilities.size(1) != classes) {
    fail("probabilities of the shape [{}], expected [any, {}] for {} class names",
         fmt::join(probabilities.sizes(), ", "), classes, classes);
  }
  if (top < 0) fail_usage("the number of classes to name must not be negative, found {}", top);
  const at::Tensor values = probabilities.to(at::kDouble).contiguous();
  const auto p = values.accessor<double, 2>();
  std::vector<int64_t> order(class_names.size());
  std::vector<std::vector<RankedClass>> result;
  for (int64_t i = 0; i < p.size(0); ++i) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return p[i][a] > p[i][b]; });
    std::vector<RankedClass> ranking;
    for (size_t r = 0; r < order.size() && r < static_cast<size_t>(top); ++r) {
      ranking.push_back({class_names[static_cast<size_t>(order[r])], p[i][order[r]]});
    }
    result.push_back(std::move(ranking));
  }
  return result;
}

}  // namespace protocom
