#include "protocom/eval/evaluate_shared.h"

#include <ATen/ATen.h>

namespace protocom {
namespace {

at::Tensor column(const std::vector<double>& values) { return at::tensor(values, at::kDouble).reshape({-1, 1}); }

/// Predictions as rows of six numbers, all of which a double holds exactly.
at::Tensor rows_of(const std::vector<Prediction>& predictions, int64_t first_episode) {
  at::Tensor rows = at::empty({static_cast<int64_t>(predictions.size()), 6}, at::kDouble);
  double* to = rows.data_ptr<double>();
  for (const Prediction& one : predictions) {
    for (const int64_t value : {one.episode + first_episode, one.row, one.true_class, one.predicted})
      *to++ = static_cast<double>(value);
    *to++ = one.probability;
    *to++ = one.margin;
  }
  return rows;
}

std::vector<Prediction> predictions_of(const at::Tensor& rows) {
  std::vector<Prediction> predictions;
  const double* from = rows.data_ptr<double>();
  for (int64_t i = 0; i < rows.size(0); ++i, from += 6) {
    predictions.push_back({static_cast<int64_t>(from[0]), static_cast<int64_t>(from[1]), static_cast<int64_t>(from[2]),
                           static_cast<int64_t>(from[3]), static_cast<float>(from[4]), static_cast<float>(from[5])});
  }
  return predictions;
}

std::vector<double> doubles_of(const at::Tensor& column) {
  const at::Tensor values = column.contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

ProtocolChecks sum_checks(const ProtocolChecks& own, const ProcessGroup& group) {
  ProtocolChecks all;
  const at::Tensor each = group.gather_rows(
      at::tensor({own.episodes, own.rows, own.classes, own.permuted_episodes, own.permuted_queries, own.ties},
                 at::kLong)
          .reshape({1, -1}));
  for (int64_t rank = 0; rank < each.size(0); ++rank) {
    const int64_t* row = each.data_ptr<int64_t>() + rank * each.size(1);
    all.add({row[0], row[1], row[2], row[3], row[4], row[5]});
  }
  return all;
}

}  // namespace

CheckedScores evaluate_shared(const FeatureSet& features, const EpisodeList& episodes, const CompletionModel* model,
                              const ClassKnowledge* classes, const EvaluateOptions& options, const ProcessGroup& group,
                              Progress& progress) {
  if (group.alone()) return evaluate_checked(features, episodes, model, classes, options, progress);
  const auto [begin, end] = group.share(static_cast<int64_t>(episodes.episodes.size()));
  EpisodeList own{episodes.shape, episodes.split, episodes.seed, {}};
  own.episodes.assign(episodes.episodes.begin() + begin, episodes.episodes.begin() + end);
  CheckedScores scores = evaluate_checked(features, own, model, classes, options, progress);
  for (MethodScores& method : scores.methods) {
    method.accuracy = doubles_of(group.gather_rows(column(method.accuracy)));
    method.cosine = doubles_of(group.gather_rows(column(method.cosine)));
    if (options.predictions == KeepPredictions::kYes)
      method.predictions = predictions_of(group.gather_rows(rows_of(method.predictions, begin)));
  }
  scores.checks = sum_checks(scores.checks, group);
  return scores;
}

}  // namespace protocom
