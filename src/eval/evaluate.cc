#include "protocom/eval/evaluate.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <optional>

#include "protocom/core/error.h"
#include "protocom/fewshot/cosine_classifier.h"
#include "protocom/fewshot/moments.h"

namespace protocom {
namespace {

struct MethodFacts {
  Method method;
  std::string_view name;
  std::string_view mode;
};

constexpr std::array<MethodFacts, 4> kMethods = {{{Method::kMean, "mean", "inductive"},
                                                  {Method::kCompleted, "completed", "inductive"},
                                                  {Method::kMeanFusion, "mean-fusion", "inductive"},
                                                  {Method::kGaussFusion, "gauss-fusion", "transductive"}}};

const MethodFacts& facts(Method method) { return kMethods[static_cast<size_t>(method)]; }

/// Some episodes as tensors.
struct EpisodeBatch {
  at::Tensor classes;  // int64 [b, n]
  at::Tensor support;  // [b, n, k, d]
  at::Tensor query;    // [b, n * q, d], by class
};

void append_rows(const std::vector<std::vector<int64_t>>& groups, std::vector<int64_t>& rows) {
  for (const auto& group : groups) rows.insert(rows.end(), group.begin(), group.end());
}

EpisodeBatch gather(const at::Tensor& features, const EpisodeList& list, size_t begin, size_t end) {
  std::vector<int64_t> classes;
  std::vector<int64_t> support;
  std::vector<int64_t> query;
  for (size_t i = begin; i < end; ++i) {
    classes.insert(classes.end(), list.episodes[i].classes.begin(), list.episodes[i].classes.end());
    append_rows(list.episodes[i].support, support);
    append_rows(list.episodes[i].query, query);
  }
  const auto& shape = list.shape;
  const int64_t d = features.size(1);
  const auto rows = [&](const std::vector<int64_t>& index) {
    return features.index_select(0, at::tensor(index, at::kLong));
  };
  return {at::tensor(classes, at::kLong).view({-1, shape.n_way}),
          rows(support).view({-1, shape.n_way, shape.k_shot, d}),
          rows(query).view({-1, shape.n_way * shape.n_query, d})};
}

/// Computes prototypes of a batch by any method; the completed ones once.
class BatchPrototypes {
 public:
  BatchPrototypes(const EpisodeBatch& batch, const Completer* completer, const GaussFusionOptions& options)
      : batch_(batch),
        support_(support_statistics(batch.support)),
        mean_(mean_prototypes(support_)),
        options_(options) {
    if (completer != nullptr)
      completed_ = completer->complete(mean_.flatten(0, 1), batch.classes.flatten()).view_as(mean_);
  }

  [[nodiscard]] at::Tensor of(Method method) const {
    switch (method) {
      case Method::kMean:
        return mean_;
      case Method::kCompleted:
        return completed_;
      case Method::kMeanFusion:
        return fuse_by_mean(mean_, completed_);
      case Method::kGaussFusion:
        return gauss_fusion(support_, completed_, batch_.query, options_);
    }
    return {};
  }

 private:
  const EpisodeBatch& batch_;
  SupportStatistics support_;
  at::Tensor mean_;       // [b, n, d]
  at::Tensor completed_;  // [b, n, d]
  GaussFusionOptions options_;
};

void append(std::vector<double>& values, const at::Tensor& more) {
  const at::Tensor plain = more.to(at::kDouble).contiguous();
  values.insert(values.end(), plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel());
}

/// The queries of one batch, whose first episode is number `first` of the list.
void keep_predictions(const EpisodeBatch& batch, const at::Tensor& cosines, double scale, const EpisodeList& list,
                      size_t first, MethodScores& result) {
  const auto best = (cosines * scale).softmax(-1).topk(2, -1);
  const at::Tensor probability = std::get<0>(best).contiguous();  // [b, n * q, 2]
  const at::Tensor winner = std::get<1>(best).contiguous();
  const float* p = probability.data_ptr<float>();
  const int64_t* w = winner.data_ptr<int64_t>();
  for (int64_t i = 0; i < batch.classes.size(0); ++i) {
    const Episode& episode = list.episodes[first + static_cast<size_t>(i)];
    for (size_t k = 0; k < episode.query.size(); ++k) {
      for (const int64_t row : episode.query[k]) {
        result.predictions.push_back({static_cast<int64_t>(first) + i, row, episode.classes[k],
                                      episode.classes[static_cast<size_t>(w[0])], p[0], p[0] - p[1]});
        p += 2;
        w += 2;
      }
    }
  }
}

void score(const EpisodeBatch& batch, const at::Tensor& prototypes, const at::Tensor& centres, const at::Tensor& truth,
           MethodScores& result) {
  const at::Tensor predicted = protocom::cosine_similarity(batch.query, prototypes).argmax(-1);  // [b, n * q]
  append(result.accuracy, predicted.eq(truth).to(at::kDouble).mean(-1) * 100.0);
  const at::Tensor centre = centres.index_select(0, batch.classes.flatten()).view_as(prototypes);
  append(result.cosine, at::cosine_similarity(prototypes, centre, -1).mean(-1));
}

bool needs_completion(const std::vector<Method>& methods) {
  return std::any_of(methods.begin(), methods.end(), [](Method method) { return method != Method::kMean; });
}

void check_request(const FeatureSet& features, const CompletionModel* model, const ClassKnowledge* classes,
                   const EvaluateOptions& options) {
  if (options.methods.empty()) fail_usage("no method to evaluate");
  if (options.batch < 1) fail_usage("the batch must be at least 1, found {}", options.batch);
  if (!needs_completion(options.methods)) return;
  if (model == nullptr || classes == nullptr) fail_usage("every method but 'mean' needs a model and knowledge");
  const auto& sizes = model->network.options();
  if (sizes.feature_dim != features.dim()) {
    fail("the model completes features of {} dimensions, these have {}", sizes.feature_dim, features.dim());
  }
  if (sizes.embedding_dim != classes->embedding.size(1)) {
    fail("the model was trained with embeddings of {} dimensions, the knowledge has {}", sizes.embedding_dim,
         classes->embedding.size(1));
  }
}

}  // namespace

std::string_view to_string(Method method) { return facts(method).name; }

Method parse_method(std::string_view text) {
  for (const auto& entry : kMethods) {
    if (entry.name == text) return entry.method;
  }
  fail_usage("unknown method '{}'; use mean, completed, mean-fusion or gauss-fusion", text);
}

std::vector<Method> all_methods() {
  return {Method::kMean, Method::kCompleted, Method::kMeanFusion, Method::kGaussFusion};
}

std::string_view mode_of(Method method) { return facts(method).mode; }

std::vector<MethodScores> evaluate(const FeatureSet& features, const EpisodeList& episodes,
                                   const CompletionModel* model, const ClassKnowledge* classes,
                                   const EvaluateOptions& options, Progress& progress) {
  check_request(features, model, classes, options);
  const at::NoGradGuard no_grad;
  const auto class_count = static_cast<int64_t>(features.class_names.size());
  const at::Tensor centres = class_moments(features.features, features.labels, class_count).mean().to(at::kFloat);
  std::optional<Completer> completer;
  if (needs_completion(options.methods)) completer.emplace(*model, *classes);
  const at::Tensor truth = at::arange(episodes.shape.n_way).repeat_interleave(episodes.shape.n_query);

  std::vector<MethodScores> results;
  for (const Method method : options.methods) results.push_back({method, {}, {}, {}});
  const auto step = static_cast<size_t>(options.batch);
  progress.start("evaluate", static_cast<int64_t>(episodes.episodes.size()));
  for (size_t begin = 0; begin < episodes.episodes.size(); begin += step) {
    const size_t end = std::min(begin + step, episodes.episodes.size());
    const EpisodeBatch batch = gather(features.features, episodes, begin, end);
    const BatchPrototypes prototypes(batch, completer ? &*completer : nullptr, options.fusion);
    for (auto& result : results) {
      const at::Tensor of_method = prototypes.of(result.method);
      score(batch, of_method, centres, truth, result);
      if (options.predictions == KeepPredictions::kYes) {
        keep_predictions(batch, protocom::cosine_similarity(batch.query, of_method), options.fusion.scale, episodes,
                         begin, result);
      }
    }
    progress.advance(static_cast<int64_t>(end), "");
  }
  progress.finish();
  return results;
}

nlohmann::json results_json(const EpisodeShape& shape, const std::vector<MethodScores>& results) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& result : results) {
    const Estimate accuracy = estimate(result.accuracy);
    const Estimate cosine = estimate(result.cosine);
    out.push_back({{"method", to_string(result.method)},
                   {"mode", mode_of(result.method)},
                   {"n_way", shape.n_way},
                   {"k_shot", shape.k_shot},
                   {"n_query", shape.n_query},
                   {"episodes", result.accuracy.size()},
                   {"accuracy", accuracy.value},
                   {"ci95", accuracy.ci95},
                   {"cosine", cosine.value},
                   {"cosine_ci95", cosine.ci95},
                   {"per_episode", result.accuracy}});
  }
  return out;
}

}  // namespace protocom
