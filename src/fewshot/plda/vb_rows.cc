#include "fewshot/plda/detail/vb_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "fewshot/plda/detail/vb_run.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/row_products.h"

namespace protocom {
namespace {

/// A hundredth of a nat below what is plausible a class's responsibility has fallen by a factor of e.
constexpr double kHandicapSlope = 100;

/// The i-th part of a contiguous tensor; null for one that is undefined or empty.
float* row(const at::Tensor& all, int64_t i) {
  return all.defined() && all.numel() > 0 ? all.data_ptr<float>() + i * all.stride(0) : nullptr;
}

/// The products that the rest needs, [b, ...]; undefined tensors: everything is done dimension by dimension.
struct Products {
  at::Tensor gram, cross, length;
};

Products products_of(const PldaVbRows& task, const PldaLayout& layout) {
  const auto& prior = task.prior;
  const int64_t rest = prior.mean_rest.size(-1);
  const auto part = [&](const at::Tensor& rows) { return rows.narrow(-1, layout.rest_begin(), rest); };
  // (m0 + s S) / (1 + K s) = s / (1 + K s) (m0 / s + S): T of PldaVbRun is the bracket. With s = 0 the mean is sure.
  const at::Tensor variance = prior.variance_rest.unsqueeze(-1).clamp_min(1e-12);
  const at::Tensor total = part(task.sum) + prior.mean_rest / variance;  // [b, n, rest]
  const at::Tensor images = part(task.unlabelled).contiguous();
  return {row_gram(images), row_products(images, total), total.square().sum(-1).contiguous()};
}

/// A belief of whole rows: the squares between the parts have the variance 0, so that they count for nothing.
PldaRowBelief as_one_part(const PldaRowBelief& prior, const PldaLayout& layout) {
  std::vector<int64_t> between = prior.mean_varied.sizes().vec();
  between.back() = layout.rest_begin() - layout.padded;
  const at::Tensor nothing = at::zeros(between);
  const int64_t padding = prior.mean_rest.size(-1) - layout.rest();
  const at::Tensor rest = prior.variance_rest.unsqueeze(-1).expand([&] {
    std::vector<int64_t> sizes = prior.mean_rest.sizes().vec();
    sizes.back() = layout.rest();
    return sizes;
  }());
  return {at::cat({prior.mean_varied, nothing, prior.mean_rest}, -1),
          at::cat({prior.variance_varied, nothing, at::constant_pad_nd(rest, {0, padding})}, -1),
          {},
          {}};
}

/// Everything as contiguous float32, and the products where they are used.
class Episodes {
 public:
  Episodes(const PldaVbRows& task, const PldaLayout& layout, const at::Tensor& given) : layout_(layout) {
    const int64_t u = task.unlabelled.size(1);
    // Products of all pairs are fewer numbers than the rows, and serve every step.
    by_products_ = !task.queries.defined() && layout.rest() > 0 && u <= layout.rest();
    if (by_products_) products_ = products_of(task, layout);
    const PldaRowBelief whole = by_products_ ? task.prior : as_one_part(task.prior, layout);
    mean_ = whole.mean_varied.contiguous();
    variance_ = whole.variance_varied.contiguous();
    rest_ = task.prior.variance_rest.contiguous();
    unlabelled_ = task.unlabelled.contiguous();
    sum_ = task.sum.contiguous();
    count_ = task.count.contiguous();
    if (task.handicap.defined()) handicap_ = task.handicap.to(at::kFloat).contiguous();
    if (!given.defined()) return;
    const at::Tensor share = given.to(at::kFloat);
    share_ = (share / share.sum(-1, true)).clamp_min(kSmallestShare).log().expand_as(count_).contiguous();
  }

  [[nodiscard]] PldaVbEpisode operator[](int64_t i) const {
    PldaVbEpisode episode;
    episode.n = count_.size(1);
    episode.u = unlabelled_.size(1);
    episode.dim = mean_.size(-1);
    episode.stride = layout_.width();
    episode.rows = row(unlabelled_, i);
    episode.count = row(count_, i);
    episode.sum = row(sum_, i);
    episode.prior_mean = row(mean_, i);
    episode.prior_variance = row(variance_, i);
    episode.given_log_share = row(share_, i);
    episode.handicap = row(handicap_, i);
    if (!by_products_) return episode;
    episode.gram_stride = padded_length(episode.u);
    episode.gram = row(products_.gram, i);
    episode.cross = row(products_.cross, i);
    episode.length = row(products_.length, i);
    episode.variance_rest = row(rest_, i);
    return episode;
  }

 private:
  PldaLayout layout_;
  bool by_products_ = false;
  Products products_;
  at::Tensor mean_, variance_, rest_, unlabelled_, sum_, count_, share_, handicap_;
};

}  // namespace

at::Tensor vb_handicap(const at::Tensor& alone, double plausible) {
  const at::Tensor behind = alone - std::get<0>(alone.max(-1, true)) - std::log(plausible);
  return (kHandicapSlope * behind.clamp_max(0)).contiguous();
}

at::Tensor plda_vb_rows(const PldaVbRows& task, const PldaLayout& layout, const PldaVbOptions& options) {
  check_options(options);
  const Episodes episodes(task, layout, options.given);
  const bool pooled = task.queries.defined();
  const at::Tensor queries = pooled ? task.queries.contiguous() : task.unlabelled;
  const int64_t n = task.sum.size(1);
  at::Tensor logits = at::empty({queries.size(0), queries.size(1), n});
  std::vector<float> of_pool(static_cast<size_t>(pooled ? task.unlabelled.size(1) * n : 0));
  PldaVbOptions settings = options;
  settings.uncertain = layout.leading;
  PldaVbRun run(settings);
  for (int64_t i = 0; i < logits.size(0); ++i) {
    run.run(episodes[i], pooled ? of_pool.data() : row(logits, i));
    if (pooled) run.score(row(queries, i), queries.size(1), row(logits, i));
  }
  return logits;
}

}  // namespace protocom
