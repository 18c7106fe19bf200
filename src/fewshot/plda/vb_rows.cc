#include "fewshot/plda/detail/vb_rows.h"

#include <algorithm>
#include <utility>

#include "fewshot/plda/detail/vb_run.h"
#include "fewshot/row_kernels.h"

namespace protocom {
namespace {

/// The products needed for the rest.
struct Products {
  int64_t stride = 0;
  FloatMatrix gram;        // [u, stride]
  FloatMatrix cross;       // [u, n]
  Eigen::VectorXf length;  // [n]
};

Products products_of(const PldaVbRows& task, const PldaLayout& layout) {
  const PldaRowBelief& prior = task.prior;
  const int64_t rest = prior.mean_rest.cols(), n = prior.classes(), u = static_cast<int64_t>(task.unlabelled.size());
  // (m0 + s S) / (1 + K s) = s / (1 + K s) (m0 / s + S): T of PldaVbRun is the bracket. With s = 0 the mean is certain.
  const Eigen::VectorXf precision = prior.variance_rest.cwiseMax(1e-12F).cwiseInverse();
  const FloatMatrix total = task.sum.rightCols(rest) + FloatMatrix(precision.asDiagonal() * prior.mean_rest);
  std::vector<const float*> images;
  for (const float* row : task.unlabelled) images.push_back(row + layout.rest_begin());
  Products products{padded_length(u), FloatMatrix::Zero(u, padded_length(u)), FloatMatrix(u, n),
                    total.rowwise().squaredNorm()};
  gram_of_rows({images.data(), u, rest, products.stride}, products.gram.data());
  row_dots({images.data(), u, total.data(), n, rest, n}, products.cross.data());
  return products;
}

/// Returns means and variances of whole rows [n, width]: the squares between the parts have variance 0, so that they do
/// not count.
std::pair<FloatMatrix, FloatMatrix> as_one_part(const PldaRowBelief& prior, const PldaLayout& layout) {
  const int64_t n = prior.classes(), rest = layout.rest();
  FloatMatrix mean = FloatMatrix::Zero(n, layout.width()), variance = mean;
  mean.leftCols(layout.padded) = prior.mean_varied;
  mean.rightCols(prior.mean_rest.cols()) = prior.mean_rest;
  variance.leftCols(layout.padded) = prior.variance_varied;
  variance.middleCols(layout.rest_begin(), rest) = prior.variance_rest.replicate(1, rest);
  return {std::move(mean), std::move(variance)};
}

}  // namespace

Eigen::VectorXf log_shares_of(const std::vector<double>& shares) {
  const Eigen::Map<const Eigen::ArrayXd> all(shares.data(), static_cast<int64_t>(shares.size()));
  return (all / all.sum()).max(kSmallestShare).log().matrix().cast<float>();
}

FloatMatrix plda_vb_rows(const PldaVbRows& task, const PldaLayout& layout, const PldaVbOptions& options) {
  check_options(options);
  const int64_t n = task.sum.rows(), u = static_cast<int64_t>(task.unlabelled.size());
  // Products of all pairs are fewer numbers than the rows, and serve every step.
  const bool by_products = !task.pooled && layout.rest() > 0 && u <= layout.rest();
  Products products;
  std::pair<FloatMatrix, FloatMatrix> whole;
  if (by_products) {
    products = products_of(task, layout);
  } else {
    whole = as_one_part(task.prior, layout);
  }
  const FloatMatrix& mean = by_products ? task.prior.mean_varied : whole.first;
  const FloatMatrix& variance = by_products ? task.prior.variance_varied : whole.second;
  const Eigen::VectorXf log_shares = log_shares_of(options.given);
  PldaVbEpisode episode;
  episode.n = n;
  episode.u = u;
  episode.dim = mean.cols();
  episode.stride = layout.width();
  episode.rows = task.unlabelled.data();
  episode.count = task.count.data();
  episode.sum = task.sum.data();
  episode.prior_mean = mean.data();
  episode.prior_variance = variance.data();
  episode.given_log_share = log_shares.data();
  if (by_products) {
    episode.gram_stride = products.stride;
    episode.gram = products.gram.data();
    episode.cross = products.cross.data();
    episode.length = products.length.data();
    episode.variance_rest = task.prior.variance_rest.data();
  }
  PldaVbOptions settings = options;
  settings.uncertain = layout.leading;
  PldaVbRun run(settings);
  FloatMatrix logits(u, n);
  run.run(episode, logits.data());
  if (!task.pooled) return logits;
  const auto q = static_cast<int64_t>(task.queries.size());
  logits.resize(q, n);
  run.score(task.queries.data(), q, logits.data());
  return logits;
}

}  // namespace protocom
