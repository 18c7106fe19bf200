#include <ATen/ATen.h>

#include "fewshot/plda/method.h"
#include "protocom/fewshot/image_points.h"

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

class Plda : public PldaMethod {
 public:
  explicit Plda(const Options& options)
      : PldaMethod(options.prior, {TextWeights().alone, options.text}), options_(complete(options)) {}

  [[nodiscard]] MakeScorer make_scorer() const override {
    return [options = options_](PldaPrepared prepared) {
      return std::make_unique<Predictive>(std::move(prepared), options);
    };
  }

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

    /// Means, and how many images each class has: the metric depends on those of all.
    [[nodiscard]] PlacedClasses place(const EpisodeBatch& batch) const override {
      const auto [count, sum] = prepared_.rows->sums(batch.support, batch.support_mask);
      return {means(batch, count, sum).squeeze(0), count.squeeze(0)};
    }
    [[nodiscard]] EpisodeScores score(const PlacedClasses& classes, const at::Tensor& query) const override {
      EpisodeBatch batch;
      batch.query = prepared_.rows->map(query).unsqueeze(0);  // [1, q, width]
      const at::Tensor count = classes[1].unsqueeze(0);
      const PldaRowPredictive images = row_predictive(batch.query, prepared_.metric_of(count));
      return with_scale(batch, row_log_predictive_of_images(images, classes[0].unsqueeze(0)), count);
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
