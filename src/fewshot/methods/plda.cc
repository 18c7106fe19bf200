#include <ATen/ATen.h>

#include <mutex>

#include "fewshot/image_points.h"
#include "fewshot/plda/detail/method.h"
#include "fewshot/toolbox/detail/coarse_rows.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string prior = "fitted";
  double scale = 0;
  double text = TextWeights().beside;
};

/// Factor of the log predictive beside texts (docs/methods/plda.md).
constexpr double kScaleBesideText = 0.05;

/// Those with what depends on one another filled in.
Options complete(Options options) {
  if (options.prior == kTextPrior && options.scale == 0) options.scale = kScaleBesideText;
  return options;
}

std::vector<std::string> choices() {
  std::vector<std::string> all = prior_choices();
  all.emplace_back(kTextPrior);
  return all;
}

std::string prior_text() {
  return std::string(kPriorText) +
         "; text: what the image encoder's text encoder says of the class (knowledge embeddings), nothing to fit";
}

/// What the squares of placed classes add to their products with an image: the same for every image.
class SquaresOfClasses {
 public:
  /// `means` [n, width] are those that `count` [n] counts the images of: both change together. `weights` [padded +
  /// kRowMultiple], those of an image's row.
  at::Tensor times(const at::Tensor& weights, const at::Tensor& means, const at::Tensor& count,
                   const PldaLayout& layout) {
    const std::lock_guard lock(mutex_);
    if (!count_.is_same(count) || version_ != count._version()) {
      products_ = at::mv(means.narrow(1, layout.padded, weights.size(0)), weights);
      count_ = count;
      version_ = count._version();
    }
    return products_;
  }

 private:
  std::mutex mutex_;
  at::Tensor count_, products_;
  int64_t version_ = -1;
};

class Plda : public PldaMethod {
 public:
  explicit Plda(const Options& options)
      : PldaMethod(options.prior, {TextWeights().alone, options.text}), options_(complete(options)) {}

  [[nodiscard]] MakeScorer make_scorer() const override {
    return [options = options_](PldaPrepared prepared) {
      return std::make_unique<Predictive>(std::move(prepared), options);
    };
  }
  [[nodiscard]] std::optional<double> scale_in_span() const override { return options_.scale; }

 private:
  /// log N(q; m, 1 + v) of each class's posterior mean m; v is PldaRowMetric's.
  class Predictive : public Scorer, public ImagePoints, private ClassPlacer {
   public:
    Predictive(PldaPrepared prepared, Options options) : prepared_(std::move(prepared)), options_(std::move(options)) {}
    [[nodiscard]] std::shared_ptr<const FeatureTransform> feature_transform() const override { return prepared_.rows; }
    [[nodiscard]] at::Tensor points(const at::Tensor& features) const override { return prepared_.points(features); }
    [[nodiscard]] const ClassPlacer* placer() const override { return this; }

   private:
    [[nodiscard]] int64_t fewest_shots() const override { return 0; }
    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      const auto [count, sum] = supports_of(batch);
      const PldaRowPredictive classes = row_predictive(means(batch, count, sum), prepared_.metric_of(count));
      return with_scale(batch, row_log_predictive(classes, batch.query), count);
    }

    /// Means, and how many images each class has: the metric depends on those of all. Then what is linear in a mean as
    /// coarse rows.
    [[nodiscard]] PlacedClasses place(const EpisodeBatch& batch) const override {
      const auto [count, sum] = prepared_.rows->sums(batch.support, batch.support_mask);
      const at::Tensor rows = means(batch, count, sum).squeeze(0);
      const CoarseRows coarse = coarse_rows(linear_part(rows));
      return {rows, count.squeeze(0), coarse.codes, coarse.steps};
    }
    [[nodiscard]] EpisodeScores score(const PlacedClasses& classes, const at::Tensor& query) const override {
      EpisodeBatch batch;
      batch.query = prepared_.rows->map(query).unsqueeze(0);  // [1, q, width]
      const at::Tensor count = classes[1].unsqueeze(0);
      const PldaRowPredictive images = row_predictive(batch.query, prepared_.metric_of(count));
      return with_scale(batch, log_predictive(images, classes), count);
    }

    /// Of rows [n, width] what their products with images are linear in.
    [[nodiscard]] at::Tensor linear_part(const at::Tensor& rows) const {
      const PldaLayout& layout = prepared_.rows->layout();
      return at::cat({rows.narrow(-1, 0, layout.padded), rows.slice(-1, layout.rest_begin())}, -1);
    }

    /// row_log_predictive_of_images(), where classes are very many by their coarse rows: [1, q, n].
    [[nodiscard]] at::Tensor log_predictive(const PldaRowPredictive& images, const PlacedClasses& classes) const {
      const at::Tensor& means = classes[0];
      if (means.size(0) < kFewestCoarse || images.prototypes.size(1) == 0)
        return row_log_predictive_of_images(images, means.unsqueeze(0));
      const PldaLayout& layout = prepared_.rows->layout();
      const at::Tensor rows = images.prototypes.squeeze(0);  // [q, width]
      const at::Tensor weights = rows[0].slice(0, layout.padded, layout.rest_begin());
      const ManyRows many{means, {classes[2], classes[3]}, squares_.times(weights, means, classes[1], layout)};
      return products_with_many(rows, linear_part(rows), many).unsqueeze(0) - 0.5 * images.constant.unsqueeze(-1);
    }

    [[nodiscard]] at::Tensor means(const EpisodeBatch& batch, const at::Tensor& count, const at::Tensor& sum) const {
      return rows_of_means(row_posterior(prepared_.prior_of(batch), count, sum, prepared_.rows->layout()));
    }
    [[nodiscard]] EpisodeScores with_scale(const EpisodeBatch& batch, const at::Tensor& scores,
                                           const at::Tensor& count) const {
      const at::Tensor logits =
          options_.scale > 0 ? options_.scale * scores : by_shots(prepared_.model->inductive_scale, count) * scores;
      return {logits, at::Tensor(), prepared_.unseen(batch, scores, count, logits)};
    }

    PldaPrepared prepared_;
    Options options_;
    mutable SquaresOfClasses squares_;
  };

  Options options_;
};

}  // namespace

MethodDefinition plda() {
  MethodSpec spec;
  spec.name = "plda";
  spec.about = "Bayesian: a Gaussian a class, its mean believed by knowledge first, then by the supports";
  spec.citation = kPldaCitation;
  spec.needs = {Need::kFitting};
  spec.fewest_shots = 0;
  spec.notes =
      "Fitted with or without knowledge; with it, classes without a description are treated as without. The settings "
      "are chosen on classes left out of the fit, never on novel ones (docs/methods/plda.md).";
  return define<Plda>(std::move(spec), Parameters<Options>()
                                           .choice("prior", &Options::prior, choices(), prior_text().c_str())
                                           .real("scale", &Options::scale, {},
                                                 "factor of the log predictive in the softmax; 0: the one that makes "
                                                 "probabilities of classes left out right, with prior=text .05")
                                           .real("text", &Options::text, {},
                                                 "factor of the cosine of image and text beside photos, with "
                                                 "prior=text"));
}

}  // namespace protocom::methods
