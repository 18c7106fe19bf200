#include "eval/gather_scores.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace protocom {
namespace {

constexpr int64_t kFields = 6;

/// Predictions as rows of six numbers, all of which a double holds exactly.
at::Tensor rows_of(const std::vector<Prediction>& predictions) {
  at::Tensor rows = at::empty({static_cast<int64_t>(predictions.size()), kFields}, at::kDouble);
  double* to = rows.data_ptr<double>();
  for (const Prediction& prediction : predictions) {
    for (const int64_t value : {prediction.episode, prediction.row, prediction.true_class, prediction.predicted})
      *to++ = static_cast<double>(value);
    *to++ = prediction.probability;
    *to++ = prediction.margin;
  }
  return rows;
}

std::vector<Prediction> predictions_of(const at::Tensor& rows) {
  std::vector<Prediction> predictions;
  const double* from = rows.data_ptr<double>();
  for (int64_t i = 0; i < rows.size(0); ++i, from += kFields) {
    predictions.push_back({static_cast<int64_t>(from[0]), static_cast<int64_t>(from[1]), static_cast<int64_t>(from[2]),
                           static_cast<int64_t>(from[3]), static_cast<float>(from[4]), static_cast<float>(from[5])});
  }
  return predictions;
}

void gather(const std::pair<int64_t, int64_t>& share, const ProcessGroup& group, std::vector<double>& values) {
  if (values.empty()) return;
  const at::Tensor own = at::tensor(values, at::kDouble).slice(0, share.first, share.second).unsqueeze(1).contiguous();
  const at::Tensor all = group.gather_rows(own).contiguous();
  std::copy_n(all.data_ptr<double>(), values.size(), values.begin());
}

}  // namespace

void gather_scores(const ListShare& own, const ProcessGroup& group, std::vector<MethodScores>& methods) {
  for (MethodScores& method : methods) {
    gather(own.episodes, group, method.accuracy);
    gather(own.episodes, group, method.cosine);
    if (method.predictions.empty()) continue;
    const auto begin = method.predictions.begin();
    const at::Tensor rows = rows_of({begin + own.queries.first, begin + own.queries.second});
    method.predictions = predictions_of(group.gather_rows(rows).contiguous());
  }
}

}  // namespace protocom
