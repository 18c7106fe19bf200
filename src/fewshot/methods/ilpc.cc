#include <ATen/ATen.h>

#include <vector>

#include "fewshot/toolbox/detail/label_graph.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "fewshot/toolbox/detail/sinkhorn.h"
#include "fewshot/toolbox/detail/softmax_descent.h"
#include "fewshot/toolbox/detail/space_method.h"
#include "fewshot/toolbox/detail/span.h"

namespace protocom::methods {
namespace {

struct Options : LabelGraphOptions {
  double sharpness = 3;
  int64_t keep = 3;
  int64_t cleaning_steps = 1000;
  std::string transform = "l2n";
};

/// Summed loss of each image over the training of a linear classifier on all of them, [b, s + u].
class Cleaning {
 public:
  Cleaning(const EpisodePoints& points, int64_t steps)
      : span_(points.learned_from(points.features).to(at::kDouble)),
        gram_(panels(filled_up(
            span_.products(
                at::eye(points.supports + points.unlabelled, at::kDouble).expand({points.features.size(0), -1, -1})) +
            1))),
        steps_(steps) {}

  /// `labels` [b, s + u, n] of all images, `trusted` those of the supports and of images kept before; zeros for
  /// episodes that are not `asked` about, bool [b].
  [[nodiscard]] at::Tensor losses(const at::Tensor& labels, const at::Tensor& trusted, const at::Tensor& asked) const {
    const at::Tensor scores = span_.products(imprinted(trusted)).transpose(1, 2);
    const int64_t n = labels.size(2);
    const at::Tensor start = filled_up(scores.slice(1, 0, n - 1) - scores.slice(1, n - 1));
    const at::Tensor target = filled_up(labels.transpose(1, 2));
    const at::Tensor share = labels.sum({1, 2}).reciprocal().contiguous();
    const int64_t stride = target.size(2);
    at::Tensor found = at::zeros({labels.size(0), stride}, at::kDouble);
    std::vector<double> work(static_cast<size_t>((3 * n - 2) * stride));
    for (int64_t e = 0; e < labels.size(0); ++e) {
      if (!asked.data_ptr<bool>()[e]) continue;
      SoftmaxDescent task;
      task.gram = gram_.data_ptr<double>() + e * gram_.stride(0);
      task.start = start.data_ptr<double>() + e * (n - 1) * stride;
      task.labels = target.data_ptr<double>() + e * n * stride;
      task.n = n;
      task.points = labels.size(1);
      task.stride = stride;
      task.share = share.data_ptr<double>()[e];
      task.rate = 0.1;
      task.momentum = 0.9;
      task.decay = 5e-4;
      task.steps = steps_;
      task.work = work.data();
      softmax_descent(task, found.data_ptr<double>() + e * stride);
    }
    return found.slice(1, 0, labels.size(1));
  }

 private:
  static at::Tensor filled_up(const at::Tensor& rows) {
    return at::constant_pad_nd(rows, {0, padded_length(rows.size(2)) - rows.size(2)}).contiguous();
  }

  /// Columns that are multiplied together side by side.
  static at::Tensor panels(const at::Tensor& gram) {
    return gram.view({gram.size(0), gram.size(1), -1, kRowMultiple}).transpose(1, 2).contiguous();
  }

  /// Class means at unit length.
  [[nodiscard]] at::Tensor imprinted(const at::Tensor& trusted) const {
    const at::Tensor means = weighted_means(trusted);
    const at::Tensor lengths = Span::squared_lengths(means, span_.products(means)).sqrt();
    return means / lengths.clamp_min(1e-12).transpose(1, 2);
  }

  Span span_;
  at::Tensor gram_;  // as SoftmaxDescent takes it, with 1 added for the bias
  int64_t steps_;
};

/// The state of b episodes between rounds. In float64: which images are cleanest is a choice that roundings must not
/// make.
class Rounds {
 public:
  Rounds(const EpisodePoints& points, const Options& options)
      : points_(points),
        options_(options),
        graph_(points, options),
        cleaning_(points, options.cleaning_steps),
        trusted_(points.learned_from(points.labels).to(at::kDouble).clone()),
        open_(at::ones_like(points.unlabelled_of(trusted_).select(2, 0))),
        remaining_(balanced_columns(points.unlabelled_of(trusted_)).to(at::kDouble)),
        answer_(at::zeros_like(points.unlabelled_of(trusted_))) {}

  /// Labels the cleanest images of each class; false when all are labelled.
  bool next() {
    if (!open_.any().item<bool>()) return false;
    const at::Tensor plan = transported();  // [b, u, n]
    const at::Tensor label = at::zeros_like(plan).scatter_(-1, plan.argmax(-1, true), 1) * open_.unsqueeze(-1);
    at::Tensor chosen = cleanest(label);  // [b, u]
    // With fewer than one a class the rest is labelled as it stands.
    const at::Tensor few = chosen.sum(-1, true) < static_cast<double>(plan.size(2));
    chosen = at::where(few, open_, chosen);
    answer_ = answer_ + chosen.unsqueeze(-1) * plan;
    open_ = open_ - chosen;
    remaining_ = (remaining_ - (label * chosen.unsqueeze(-1)).sum(1)).clamp_min(0);
    points_.unlabelled_of(trusted_).add_(label * chosen.unsqueeze(-1));
    return true;
  }

  /// Probabilities [b, q, n].
  [[nodiscard]] at::Tensor answer() const {
    if (points_.features.size(1) == points_.supports + points_.unlabelled) return answer_;
    return graph_.of_queries(trusted_);
  }

 private:
  /// Propagated labels after optimal transport to the columns that remain.
  [[nodiscard]] at::Tensor transported() const {
    constexpr double kTiny = 1e-12;
    const at::Tensor f = points_.unlabelled_of(graph_.propagate(trusted_));
    const at::Tensor probability = (f + kTiny) / (f + kTiny).sum(-1, true);
    const at::Tensor logits = options_.sharpness * probability.log();
    return (logits + sinkhorn(logits, remaining_, {}, open_).unsqueeze(1)).softmax(-1);
  }

  /// Of the open images of each label those of the least loss, at most `keep`: 1, else 0, [b, u].
  [[nodiscard]] at::Tensor cleanest(const at::Tensor& label) const {
    constexpr double kFar = 1e30;
    at::Tensor all = trusted_.clone();
    points_.unlabelled_of(all).add_(label);
    const at::Tensor loss = points_.unlabelled_of(cleaning_.losses(all, trusted_, undecided(label)));  // [b, u]
    const at::Tensor of_class = loss.unsqueeze(-1) + (1 - label) * kFar;                               // [b, u, n]
    const int64_t count = std::min(options_.keep, loss.size(1));
    const at::Tensor nearest = std::get<1>(of_class.topk(count, 1, /*largest=*/false));
    return (at::zeros_like(of_class).scatter_(1, nearest, 1) * label).sum(-1);
  }

  /// Episodes in which losses decide which images are kept, bool [b]: some class has more than it may keep, and the
  /// rest is not labelled as it stands.
  [[nodiscard]] at::Tensor undecided(const at::Tensor& label) const {
    const at::Tensor count = label.sum(1);  // [b, n]
    return count.gt(options_.keep).any(-1).logical_and(count.clamp_max(options_.keep).sum(-1).ge(label.size(2)));
  }

  const EpisodePoints& points_;
  const Options& options_;
  LabelGraph graph_;
  Cleaning cleaning_;
  at::Tensor trusted_;    // labels of supports and of images labelled so far, [b, s + u, n]
  at::Tensor open_;       // 1 where an unlabelled image has no label yet, [b, u]
  at::Tensor remaining_;  // images that each class is still to get, [b, n]
  at::Tensor answer_;     // the plan's row by which an image was labelled, [b, u, n]
};

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  constexpr double kTiny = 1e-9;
  const EpisodePoints points = episode_points(batch);
  Rounds rounds(points, options);
  while (rounds.next()) {
  }
  return {(rounds.answer() + kTiny).log().to(at::kFloat), at::Tensor()};
}

}  // namespace

MethodDefinition ilpc() {
  MethodSpec spec;
  spec.name = "ilpc";
  spec.about = "label propagation in rounds, each of which keeps the labels that a classifier finds cleanest";
  spec.citation =
      "Lazarou, Stathaki, Avrithis: Iterative Label Cleaning for Transductive and Semi-Supervised Few-Shot "
      "Learning, ICCV 2021";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "As the authors’ code for ResNet-12. Where that solves for the propagated labels by 20 steps of conjugate "
      "gradients, the solution here is exact; the classifier’s bias starts at 0, not at random. Probabilities are the "
      "transport plan’s row in the round that labelled the image. Queries beside a pool take their nearest points’ "
      "labels.";
  return define_in_space(std::move(spec), &answer,
                         Parameters<Options>()
                             .real("alpha", &Options::alpha, {0, 0.9999}, "share taken from the neighbours")
                             .tries({"0.5", "0.9"})
                             .whole("neighbours", &Options::neighbours, {1, 1e6}, "nearest others of an image")
                             .tries({"8", "25"})
                             .real("power", &Options::power, {}, "of the cosine, in the graph")
                             .real("sharpness", &Options::sharpness, {1e-6}, "power of the propagated labels")
                             .tries({"1"})
                             .whole("keep", &Options::keep, {1, 1e6}, "labels a class and round")
                             .tries({"5"})
                             .whole("cleaning_steps", &Options::cleaning_steps, {1, 1e6}, "of the classifier"),
                         {"cl2n"});
}

}  // namespace protocom::methods
