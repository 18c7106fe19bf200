#include "fewshot/plda/detail/closed_form.h"

#include <ATen/ATen.h>

#include "base/unit_vectors.h"
#include "fewshot/plda/detail/adaptation.h"
#include "fewshot/toolbox/detail/episode_points.h"

namespace protocom {
namespace {

/// Of supports x [s, d], their labels y [s, n] (1 at the class, zeros where there is no image), queries q [m, d]:
/// [m, n].
at::Tensor scores_of_one(const at::Tensor& x, const at::Tensor& y, const at::Tensor& q) {
  const at::Tensor there = y.sum(-1).nonzero().flatten();
  const at::Tensor images = x.index_select(0, there);
  const at::Tensor labels = y.index_select(0, there).argmax(-1);
  const at::Tensor means = at::mm(y.t().to(at::kDouble), x) / y.sum(0).unsqueeze(1);
  const Scatter scatter =
      scatter_of(within_rows(images, labels, y.size(1)), static_cast<double>(images.size(0) - y.size(1)));
  const auto dims = static_cast<double>(x.size(1));
  const double total = scatter.eigenvalues.sum().item<double>();
  const double ridge = total / static_cast<double>(std::max<int64_t>(images.size(0) - 1, 1));
  // (R + ridge I)^-1 = I / ridge + V diag(1 / (l + ridge) - 1 / ridge) V', with V and l of R's rank: no d x d matrix.
  const auto whitened = [&](const at::Tensor& rows) -> at::Tensor {
    if (!(ridge > 0)) return rows;
    const at::Tensor gain = (scatter.eigenvalues + ridge).reciprocal() - 1 / ridge;
    return dims * (rows / ridge + at::mm(at::mm(rows, scatter.directions) * gain, scatter.directions.t()));
  };
  const at::Tensor weights = whitened(means);  // [n, d]
  return at::mm(q, weights.t()) - 0.5 * (weights * means).sum(1);
}

}  // namespace

at::Tensor closed_form_scores(const EpisodeBatch& batch) {
  const EpisodePoints points = supports_and_queries(batch);
  const at::Tensor x = unit_vectors(points.supports_of(points.features)).to(at::kDouble);  // [b, s, d]
  const at::Tensor y = points.supports_of(points.labels);                                  // [b, s, n]
  const at::Tensor q = unit_vectors(batch.query).to(at::kDouble);                          // [b, q, d]
  std::vector<at::Tensor> scores;
  for (int64_t i = 0; i < batch.size(); ++i) scores.push_back(scores_of_one(x[i], y[i], q[i]));
  return at::stack(scores);
}

}  // namespace protocom
