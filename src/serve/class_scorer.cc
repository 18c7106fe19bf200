#include "protocom/serve/class_scorer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "protocom/core/error.h"

namespace protocom {
namespace {

at::Tensor rows(const EnrolledClasses& enrolled, const at::Tensor& (*field)(const StoredClass&)) {
  std::vector<at::Tensor> result;
  for (const StoredClass& one : enrolled.classes) result.push_back(field(one));
  return at::stack(result).to(at::kFloat);
}

void check_images(const EnrolledClasses& enrolled, int64_t fewest) {
  if (enrolled.classes.empty()) fail("there is no class yet; enrol one first");
  for (const StoredClass& one : enrolled.classes) {
    if (one.count < fewest) fail("class '{}' has no image: enrol one, or remove the class", one.name);
  }
}

SupportStatistics statistics(const EnrolledClasses& enrolled) {
  std::vector<double> count;
  for (const StoredClass& one : enrolled.classes) count.push_back(static_cast<double>(one.count));
  return {at::tensor(count, at::kDouble).to(at::kFloat).unsqueeze(0),
          rows(enrolled, [](const StoredClass& one) -> const at::Tensor& { return one.sum; }).unsqueeze(0),
          rows(enrolled, [](const StoredClass& one) -> const at::Tensor& { return one.sum_squares; }).unsqueeze(0)};
}

/// Each image's feature where they are all there, else moments.
EpisodeBatch supports_of(const EnrolledClasses& enrolled) {
  EpisodeBatch batch;
  const auto n = static_cast<int64_t>(enrolled.classes.size());
  batch.classes = at::arange(n, at::kLong).unsqueeze(0);  // [1, n]
  if (!enrolled.have_features()) {
    batch.moments = statistics(enrolled);
    return batch;
  }
  int64_t most = 0;
  for (const StoredClass& one : enrolled.classes) {
    if (one.features.dim() != 2 || one.features.size(0) != one.count || one.features.size(1) != enrolled.feature_dim)
      fail("class '{}': {} images of {} numbers, found features of the shape [{}]", one.name, one.count,
           enrolled.feature_dim, fmt::join(one.features.sizes(), ", "));
    most = std::max(most, one.count);
  }
  batch.support = at::zeros({1, n, most, enrolled.feature_dim});
  batch.support_mask = at::zeros({1, n, most});
  auto* support = batch.support.data_ptr<float>();
  auto* mask = batch.support_mask.data_ptr<float>();
  for (const StoredClass& one : enrolled.classes) {  // copied by hand: there may be thousands of classes
    const at::Tensor features = one.features.to(at::kFloat).contiguous();
    std::copy_n(features.data_ptr<float>(), features.numel(), support);
    std::fill_n(mask, one.count, 1.0F);
    support += most * enrolled.feature_dim;
    mask += most;
  }
  return batch;
}

void check_dims(int64_t found, int64_t expected, const char* what) {
  if (found != expected)
    fail("the model takes {} of {} dimensions, those that are enrolled have {}", what, found, expected);
}

void check_fits(const EnrolledClasses& enrolled, const StoreModel& model) {
  if (model.attributes() != enrolled.attributes) fail("the model has other attributes than the enrolled classes");
  if (model.fitted) return check_dims(model.fitted->feature_dim, enrolled.feature_dim, "features");
  const ProtoComNetOptions& sizes = model.completion->network.options();
  check_dims(sizes.feature_dim, enrolled.feature_dim, "features");
  check_dims(sizes.embedding_dim, enrolled.classes.front().description.embedding.numel(), "class embeddings");
}

KnowledgeTable table_of(const EnrolledClasses& enrolled) {
  KnowledgeTable table;
  for (const StoredClass& one : enrolled.classes) table.classes.push_back(one.name);
  table.attributes = enrolled.attributes;
  table.association =
      rows(enrolled, [](const StoredClass& one) -> const at::Tensor& { return one.description.association; });
  table.class_embedding =
      rows(enrolled, [](const StoredClass& one) -> const at::Tensor& { return one.description.embedding; });
  table.attribute_embedding =
      at::zeros({static_cast<int64_t>(enrolled.attributes.size()), table.class_embedding.size(1)});
  return table;
}

std::shared_ptr<const Method> method_of(const EnrolledClasses& enrolled, const StoreModel& model,
                                        const std::string& text) {
  const std::string name = text.empty() ? model.default_method() : text;
  std::vector<FittedMethod> fitted;
  const MethodSpec& spec = make_method(name)->spec();
  if (model.fitted && spec.has(Need::kFitting)) fitted = {*model.fitted};
  if (spec.has(Need::kSupportImages) && !enrolled.have_features())
    fail_usage("'{}' needs each enrolled image's feature; of some only the moments of their class are there", name);
  return make_methods({name}, fitted).front();
}

void check_dim(const at::Tensor& features, int64_t dim) {
  if (features.dim() == 2 && features.size(1) == dim) return;
  fail("features of the shape [{}], expected [any, {}] as those that are enrolled", fmt::join(features.sizes(), ", "),
       dim);
}

}  // namespace

ClassScorer::ClassScorer(const EnrolledClasses& enrolled, const StoreModel& model, const ClassScorerOptions& options) {
  const at::NoGradGuard no_grad;
  method_ = method_of(enrolled, model, options.method);
  check_images(enrolled, method_->spec().fewest_shots);
  check_fits(enrolled, model);
  table_ = table_of(enrolled);
  knowledge_ = {table_.association, table_.class_embedding};
  supports_ = supports_of(enrolled);
  MethodContext context;
  if (model.completion) context.model = &*model.completion;
  context.classes = &knowledge_;
  context.knowledge = &table_;
  context.class_names = &table_.classes;
  check_needs(*method_, context);
  scorer_ = method_->prepare(context);
  map_supports();
}

/// Once for all questions: the supports are the larger part of an episode by far. In pieces that stay in the cache.
void ClassScorer::map_supports() {
  constexpr int64_t kPiece = 64;
  mapped_ = supports_;
  const auto map = scorer_->feature_map();
  if (map == nullptr || !supports_.support.defined()) return;
  std::vector<at::Tensor> pieces;
  for (int64_t k = 0; k < supports_.support.size(1); k += kPiece) {
    const at::Tensor mask = supports_.support_mask.slice(1, k, k + kPiece).unsqueeze(-1);
    pieces.push_back(map->map(supports_.support.slice(1, k, k + kPiece)) * mask);
  }
  mapped_.support = at::cat(pieces, 1);
}

EpisodeScores ClassScorer::score(const at::Tensor& features) const {
  const at::NoGradGuard no_grad;
  const auto map = scorer_->feature_map();
  if (map == nullptr || !supports_.support.defined()) return score(supports_, features);
  check_dim(features, supports_.support.size(3));
  EpisodeBatch batch = mapped_;
  batch.query = map->map(features.to(at::kFloat).unsqueeze(0));  // [1, n, e]
  return scorer_->score_mapped(batch);
}

EpisodeScores ClassScorer::score(EpisodeBatch batch, const at::Tensor& features) const {
  const at::NoGradGuard no_grad;
  check_dim(features, supports_.support.defined() ? supports_.support.size(3) : supports_.moments.sum.size(2));
  batch.query = features.to(at::kFloat).unsqueeze(0);  // [1, n, d]
  return scorer_->score(batch);
}

int64_t ClassScorer::count(int64_t k) const {
  return supports_.support.defined() ? supports_.support_mask[0][k].sum().item<int64_t>() : 0;
}

at::Tensor ClassScorer::images(int64_t k) const { return supports_.support[0][k].slice(0, 0, count(k)); }

EpisodeScores ClassScorer::score_without_image(int64_t k, int64_t image) const {
  EpisodeBatch batch = supports_;
  batch.support = batch.support.clone();
  batch.support_mask = batch.support_mask.clone();
  batch.support[0][k][image].zero_();
  batch.support_mask[0][k][image] = 0;
  return score(batch, supports_.support[0][k].slice(0, image, image + 1));
}

EpisodeScores ClassScorer::score_without_class(int64_t k) const {
  const at::Tensor others = at::arange(supports_.classes.size(1)).ne(k).nonzero().flatten();  // [c - 1]
  EpisodeBatch batch;
  batch.classes = supports_.classes.index_select(1, others);
  batch.support = supports_.support.index_select(1, others);
  batch.support_mask = supports_.support_mask.index_select(1, others);
  return score(batch, images(k));
}

at::Tensor ClassScorer::prototypes(const at::Tensor& features) const {
  const at::Tensor prototypes = score(features).prototypes;
  return prototypes.defined() ? prototypes.squeeze(0) : prototypes;
}

at::Tensor ClassScorer::probabilities(const at::Tensor& features) const {
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
    const auto end = order.begin() + std::min(top, classes);
    std::partial_sort(order.begin(), end, order.end(),
                      [&](int64_t a, int64_t b) { return p[i][a] > p[i][b] || (p[i][a] == p[i][b] && a < b); });
    std::vector<RankedClass> ranking;
    for (size_t r = 0; r < order.size() && r < static_cast<size_t>(top); ++r) {
      ranking.push_back({class_names[static_cast<size_t>(order[r])], p[i][order[r]]});
    }
    result.push_back(std::move(ranking));
  }
  return result;
}

}  // namespace protocom
