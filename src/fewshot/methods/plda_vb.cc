#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "fewshot/plda/method.h"
#include "fewshot/plda/vb_rows.h"
#include "protocom/core/error.h"
#include "protocom/fewshot/image_points.h"

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

 private:
  /// The E-step of variational EM over the queries, or over the pool.
  class Mixture : public Scorer, public ImagePoints {
   public:
    Mixture(PldaPrepared prepared, Options options) : prepared_(std::move(prepared)), options_(std::move(options)) {}
    [[nodiscard]] std::shared_ptr<const FeatureMap> feature_map() const override { return prepared_.rows; }
    [[nodiscard]] at::Tensor points(const at::Tensor& features) const override { return prepared_.points(features); }

   private:
    [[nodiscard]] int64_t fewest_shots() const override { return 0; }
    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      const PldaModel& model = *prepared_.model;
      const Told told = told_of(batch);
      const at::Tensor alone = scores_alone(told, batch.query);
      const bool asks = prepared_.adapted && proportions_of(options_) != Proportions::kGiven;
      const Trust trust = asks ? trust_in_batch(batch, told) : Trust{};
      const double scale = options_.scale > 0 ? options_.scale : trust.scale;
      at::Tensor logits;
      if (!trust.together) {
        logits = (options_.scale > 0 ? at::full({1}, scale) : by_shots(model.inductive_scale, told.count)) * alone;
      } else {
        const at::Tensor scores =
            scores_together(batch, told, unlabelled_of(batch), batch.unlabelled.defined() ? batch.query : at::Tensor());
        logits = (scale > 0 ? at::full({1}, scale) : by_shots(model.transductive_scale, told.count)) * scores;
      }
      return {logits, at::Tensor(), prepared_.unseen(batch, alone, told.count, logits)};
    }

    /// What the labelled images of a batch say.
    struct Told {
      PldaRowBelief prior;
      at::Tensor count;  // [b, n]
      at::Tensor sum;    // [b, n, width]
    };

    [[nodiscard]] Told told_of(const EpisodeBatch& batch) const {
      Told told{prepared_.prior_of(batch), {}, {}};
      std::tie(told.count, told.sum) = supports_of(batch);
      return told;
    }

    [[nodiscard]] at::Tensor scores_alone(const Told& told, const at::Tensor& rows) const {
      const at::Tensor means = row_means(row_posterior(told.prior, told.count, told.sum, prepared_.rows->layout()));
      return row_log_predictive(row_predictive(means, prepared_.metric_of(told.count)), rows);
    }

    /// Of the unlabelled rows where `queries` is undefined.
    [[nodiscard]] at::Tensor scores_together(const EpisodeBatch& batch, const Told& told, const at::Tensor& unlabelled,
                                             const at::Tensor& queries) const {
      PldaVbOptions vb = prepared_.model->vb;
      vb.proportions = proportions_of(options_);
      if (options_.steps > 0) vb.steps = options_.steps;
      if (vb.proportions == Proportions::kGiven) vb.given = given(batch);
      return plda_vb_rows({told.prior, told.count, told.sum, unlabelled, queries}, prepared_.rows->layout(), vb);
    }

    /// What labelled images that were left out say of a batch.
    struct Trust {
      bool together = true;
      double scale = 0;  ///< of the mixture's scores; 0: as fitted
    };

    /// Labelled images are left out, one of each class that has two, and asked about as a part of the batch and alone.
    /// The batch of one episode is looked at together unless they are likelier alone; the scale is the one that makes
    /// them likely.
    [[nodiscard]] Trust trust_in_batch(const EpisodeBatch& batch, const Told& told) const {
      std::vector<at::Tensor> together, alone, labels;
      for (int64_t round = 0; round < kRounds; ++round) {
        const auto [own, rows] = left_out(batch, told.count, round);
        if (own.numel() == 0) break;
        Told rest = told;
        rest.count = told.count.index_add(1, own, at::full({1, own.size(0)}, -1.0F));
        rest.sum = told.sum.index_add(1, own, -rows);
        const at::Tensor unlabelled = unlabelled_of(batch);
        const bool pool = batch.unlabelled.defined();
        const at::Tensor asked = scores_together(batch, rest, pool ? unlabelled : at::cat({unlabelled, rows}, 1),
                                                 pool ? rows : at::Tensor());
        together.push_back(asked[0].slice(0, asked.size(1) - own.size(0)));
        alone.push_back(scores_alone(rest, rows)[0]);
        labels.push_back(own);
      }
      if (labels.empty()) return {};
      const at::Tensor truth = at::cat(labels);
      const ScaleLoss batchwise = most_likely(at::cat(together), truth);
      return {batchwise.loss <= most_likely(at::cat(alone), truth).loss, batchwise.scale};
    }

    /// The classes of which image `round` is left out, and those images [1, m, width].
    [[nodiscard]] std::pair<at::Tensor, at::Tensor> left_out(const EpisodeBatch& batch, const at::Tensor& count,
                                                             int64_t round) const {
      const at::Tensor support = batch.support[0];  // [n, k, width]
      at::Tensor there =
          batch.support_mask.defined() ? batch.support_mask[0] : at::ones({support.size(0), support.size(1)});
      const at::Tensor number = there.cumsum(1) * there;  // from 1
      const at::Tensor chosen =
          number.eq(static_cast<double>(round + 1)).logical_and(count[0].ge(2).unsqueeze(1)).nonzero();
      const at::Tensor own = chosen.select(1, 0), image = chosen.select(1, 1);
      return {own, support.flatten(0, 1).index_select(0, own * support.size(1) + image).unsqueeze(0)};
    }

    struct ScaleLoss {
      double scale = 1;
      double loss = std::numeric_limits<double>::infinity();
    };

    /// The scale under which the labels are likely, with a wide prior around that of the fit, and what they lose.
    [[nodiscard]] ScaleLoss most_likely(const at::Tensor& scores, const at::Tensor& labels) const {
      const double usual = prepared_.model->transductive_scale.five;
      ScaleLoss best;
      for (double factor = 0.05; factor < 20; factor *= 1.25) {
        const at::Tensor likely = (factor * usual * scores).log_softmax(-1).gather(1, labels.unsqueeze(1));
        const double loss = -likely.sum().item<double>() + 0.5 * std::log(factor) * std::log(factor);
        if (loss < best.loss) best = {factor * usual, loss};
      }
      return best;
    }

    static constexpr int64_t kRounds = 3;

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
