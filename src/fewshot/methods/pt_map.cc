#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fewshot/toolbox/detail/centred_points.h"
#include "fewshot/toolbox/detail/class_kernels.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/row_span.h"
#include "fewshot/toolbox/detail/sinkhorn.h"
#include "fewshot/toolbox/detail/space_method.h"
#include "fewshot/toolbox/detail/span.h"

namespace protocom::methods {
namespace {

struct Options {
  double lambda = 10;
  double rate = 0.2;
  int64_t steps = 20;
  std::string transform = "cl2n";
};

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  const EpisodePoints points = centred_apart(episode_points(batch));
  const Span span(points.features);
  at::Tensor means = weighted_means(points.labels);
  for (int64_t step = 0; step < options.steps; ++step) {
    const at::Tensor plan =
        class_softmax(points.unlabelled_of(transported(points, -options.lambda * span.squared_distances(means))));
    means = means + options.rate * (weighted_means(points.with_unlabelled(plan)) - means);
  }
  return {points.queries_of(transported(points, -options.lambda * span.squared_distances(means))), at::Tensor()};
}

/// centred_apart() of one episode after the other. One a thread.
class CentredRows {
 public:
  /// [m]; valid until the next call.
  const std::vector<const float*>& place(const RowEpisode& episode);

 private:
  void place_apart(const RowEpisode& episode, int64_t begin, int64_t end);

  Floats centre_;  // [dim]
  Floats rows_;    // [m, dim]
  std::vector<const float*> pointers_;
};

const std::vector<const float*>& CentredRows::place(const RowEpisode& episode) {
  if (episode.unlabelled == 0) return episode.rows;
  const int64_t supports = episode.supports();
  grow(rows_, episode.points() * episode.dim);
  pointers_.clear();
  place_mean(episode, 0, supports, centre_);
  place_apart(episode, 0, supports);
  place_mean(episode, supports, episode.learned(), centre_);
  place_apart(episode, supports, episode.points());
  return pointers_;
}

void CentredRows::place_apart(const RowEpisode& episode, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    float* own = rows_.data() + i * episode.dim;
    unit_row(episode.rows[static_cast<size_t>(i)], centre_.data(), episode.dim, own);
    pointers_.push_back(own);
  }
}

/// answer() of one episode after the other. What has a number of each point lies class by class, [n, stride].
class PtMapRun : public RowRun {
 public:
  explicit PtMapRun(const Options& options) : options_(options) {}

  void answer(const RowEpisode& episode, float* logits) override {
    span_.place(centred_.place(episode), episode.dim);
    const int64_t stride = span_.stride(), supports = episode.supports();
    Floats means;
    place_mean_coefficients(episode, stride, means);
    labels_.resize(means.size());
    std::transform(means.begin(), means.end(), labels_.begin(), [](float share) { return share > 0 ? 1.0F : 0.0F; });
    for (int64_t step = 0; step < options_.steps; ++step) {
      transport(episode, means);
      shares_of_classes(scales_.data(), kernel_.data(), episode.n, free_stride());
      plan_ = labels_;
      for (int64_t k = 0; k < episode.n; ++k)
        std::copy_n(kernel_.data() + k * free_stride(), episode.unlabelled, plan_.data() + k * stride + supports);
      normalise(episode.n, stride, plan_);
      for (size_t i = 0; i < means.size(); ++i) means[i] += static_cast<float>(options_.rate) * (plan_[i] - means[i]);
    }
    transport(episode, means);
    for (int64_t k = 0; k < episode.n; ++k) {
      const float more = std::log(scales_[size_of(k)]);
      for (int64_t i = 0; i < episode.queries; ++i)
        logits[i * episode.n + k] = logits_[size_of(k * stride + episode.first_query() + i)] + more;
    }
  }

 private:
  static size_t size_of(int64_t size) { return static_cast<size_t>(size); }
  [[nodiscard]] int64_t free_stride() const { return free_stride_; }

  /// Rows of weights become coefficients of a mean.
  static void normalise(int64_t n, int64_t stride, Floats& weights) {
    for (int64_t k = 0; k < n; ++k) {
      float* own = weights.data() + k * stride;
      const float inverse = 1 / std::accumulate(own, own + stride, 0.0F);
      for (int64_t i = 0; i < stride; ++i) own[i] *= inverse;
    }
  }

  /// Logits of all points, the plan's kernel of the unlabelled ones, and the scales of its columns.
  void transport(const RowEpisode& episode, const Floats& means) {
    const int64_t n = episode.n, u = episode.unlabelled, stride = span_.stride();
    free_stride_ = padded_length(u);
    grow(logits_, n * stride);
    span_.place_distances(means.data(), n, logits_.data());
    for (int64_t i = 0; i < n * stride; ++i) logits_[size_of(i)] *= static_cast<float>(-options_.lambda);
    scales_.assign(size_of(n), 1.0F);
    if (u == 0) return;
    kernel_.resize(size_of(n * free_stride_));
    for (int64_t k = 0; k < n; ++k)
      std::copy_n(logits_.data() + k * stride + episode.supports(), u, kernel_.data() + k * free_stride_);
    exponentials_of_classes(kernel_.data(), n, free_stride_);
    for (int64_t k = 0; k < n; ++k)
      std::fill(kernel_.data() + k * free_stride_ + u, kernel_.data() + (k + 1) * free_stride_, 0.0F);
    columns_.assign(size_of(n), static_cast<float>(static_cast<double>(u) / static_cast<double>(n)));
    work_.resize(size_of(2 * free_stride_));
    const SinkhornOptions sinkhorn;
    transport_scales({kernel_.data(), n, free_stride_, columns_.data(), static_cast<float>(sinkhorn.tolerance),
                      sinkhorn.most_steps, work_.data()},
                     scales_.data());
  }

  Options options_;
  CentredRows centred_;
  RowSpan span_;
  int64_t free_stride_ = 0;
  Floats labels_, plan_, logits_, kernel_, scales_, columns_, work_;
};

std::unique_ptr<RowRun> run(const Options& options) { return std::make_unique<PtMapRun>(options); }

}  // namespace

MethodDefinition pt_map() {
  MethodSpec spec;
  spec.name = "pt-map";
  spec.about = "class means moved step by step to where optimal transport puts the queries";
  spec.citation =
      "Hu, Gripon, Pateux: Leveraging the Feature Distribution in Transfer-based Few-Shot Learning, ICANN 2021";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "The power transform of the paper needs features that are not negative: transform=power for backbones that end "
      "in a ReLU, else cl2n. Gives every class the same number of queries. The plan’s rows are normalised last.";
  return define_in_space(std::move(spec), &answer,
                         Parameters<Options>()
                             .real("lambda", &Options::lambda, {1e-6}, "factor of the squared distance")
                             .tries({"5", "20", "40"})
                             .real("rate", &Options::rate, {0, 1}, "share of a step that the means take")
                             .tries({"0.1", "0.4"})
                             .whole("steps", &Options::steps, {0, 1e5}, "of the means")
                             .tries({"10", "50"}),
                         {"l2n", "power"}, &run);
}

}  // namespace protocom::methods
