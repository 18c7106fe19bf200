#include <ATen/ATen.h>

#include <tuple>

#include "base/error.h"
#include "fewshot/image_points.h"
#include "fewshot/plda/detail/batch_space.h"
#include "fewshot/plda/detail/method.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string prior = "fitted";
  std::string proportions = "estimate";
  int64_t steps = 0;
  double scale = 0;
};

Proportions proportions_of(const Options& options) {
  if (options.proportions == "given") return Proportions::kGiven;
  return options.proportions == "balanced" ? Proportions::kBalanced : Proportions::kEstimate;
}

const at::Tensor& given(const EpisodeBatch& batch) {
  if (!batch.shares.defined())
    fail_usage("'plda-vb:proportions=given' needs the classes' shares of the unlabelled images, and none are known");
  return batch.shares;
}

class PldaVb : public PldaMethod {
 public:
  explicit PldaVb(Options options) : PldaMethod(options.prior), options_(std::move(options)) {}

  [[nodiscard]] MakeScorer make_scorer() const override {
    return
        [options = options_](PldaPrepared prepared) { return std::make_unique<Mixture>(std::move(prepared), options); };
  }
  [[nodiscard]] bool answers_batches() const override { return true; }

 private:
  /// The E-step of variational EM over the queries, or over the pool.
  class Mixture : public Scorer, public ImagePoints {
   public:
    Mixture(PldaPrepared prepared, Options options) : prepared_(std::move(prepared)), options_(std::move(options)) {}
    [[nodiscard]] std::shared_ptr<const FeatureTransform> feature_transform() const override { return prepared_.rows; }
    [[nodiscard]] at::Tensor points(const at::Tensor& features) const override { return prepared_.points(features); }

   private:
    [[nodiscard]] int64_t fewest_shots() const override { return 0; }
    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      const PldaModel& model = *prepared_.model;
      PldaVbOptions vb = model.vb;
      vb.proportions = proportions_of(options_);
      if (options_.steps > 0) vb.steps = options_.steps;
      if (vb.proportions == Proportions::kGiven) vb.given = given(batch);
      const PldaLayout& layout = prepared_.rows->layout();
      PldaVbRows task{prepared_.prior_of(batch), {}, {}, unlabelled_of(batch), {}, {}};
      std::tie(task.count, task.sum) = supports_of(batch);
      if (batch.unlabelled.defined()) task.queries = batch.query;
      const at::Tensor means = rows_of_means(row_posterior(task.prior, task.count, task.sum, layout));
      const at::Tensor alone = row_log_predictive(row_predictive(means, prepared_.metric_of(task.count)), batch.query);
      const at::Tensor fitted_scale = by_shots(model.transductive_scale, task.count);
      const bool follows = vb.degrees > 0 && batch.size() == 1 && task.unlabelled.size(1) > 0;
      const at::Tensor scores = follows ? batch_scores_following(task, prepared_.variance, layout, vb, fitted_scale)
                                        : batch_scores(task, prepared_.variance, layout, vb, fitted_scale);
      const at::Tensor logits =
          (options_.scale > 0 ? at::full_like(fitted_scale, options_.scale) : fitted_scale) * scores;
      return {logits, at::Tensor(), prepared_.unseen(batch, alone, task.count, logits)};
    }

    PldaPrepared prepared_;
    Options options_;
  };

  Options options_;
};

}  // namespace

MethodDefinition plda_vb() {
  MethodSpec spec;
  spec.name = "plda-vb";
  spec.about = "plda with the unlabelled images in a variational mixture of the classes";
  spec.citation = kPldaCitation;
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kFitting};
  spec.fewest_shots = 0;
  spec.fitted_as = "plda";
  spec.notes =
      "Takes the file of `protocom fit --method plda`. How many images each class has is estimated; "
      "proportions=balanced "
      "assumes as many of each, which gains a little where it is true and loses much where it is not.";
  return define<PldaVb>(
      std::move(spec),
      Parameters<Options>()
          .choice("prior", &Options::prior, prior_choices(), kPriorText)
          .choice("proportions", &Options::proportions, {"estimate", "balanced", "given"},
                  "of the classes among the unlabelled; given: told to the method (evaluate tells the true ones)")
          .whole("steps", &Options::steps, {0}, "of variational EM; 0: as fitted")
          .real("scale", &Options::scale, {}, "factor of the scores in the softmax; 0: as fitted"));
}

}  // namespace protocom::methods
