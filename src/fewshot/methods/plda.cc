#include <ATen/ATen.h>

#include "fewshot/plda_method.h"
#include "protocom/core/error.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = 0;
};

class Plda : public PldaMethod {
 public:
  explicit Plda(const Options& options) : options_(options) {}

  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    return std::make_unique<Predictive>(prepared(context), options_);
  }

 private:
  /// log N(q; m, 1 + v) of each class's posterior.
  class Predictive : public Scorer {
   public:
    Predictive(Prepared prepared, const Options& options) : prepared_(std::move(prepared)), options_(options) {}

   private:
    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      const PldaModel& model = *prepared_.model;
      if (!batch.support.defined()) fail("'plda' needs each support image's feature");
      const SupportStatistics support = supports_in(model.space, batch);
      const ClassMeanPosterior posterior =
          class_mean_posterior(prior_of(model, prepared_.descriptions, batch), support.count, support.sum);
      const double scale = options_.scale > 0 ? options_.scale : model.inductive_scale;
      return {scale * log_predictive(posterior, model.space.transform(batch.query)), at::Tensor()};
    }

    Prepared prepared_;
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
  spec.needs = {Need::kFitting, Need::kSupportImages};
  spec.notes =
      "Fitted with or without knowledge; with it, classes without a description are treated as without. The settings "
      "are chosen on classes left out of the fit, never on novel ones (docs/beyond.md).";
  return define<Plda>(std::move(spec),
                      Parameters<Options>().real("scale", &Options::scale, {},
                                                 "factor of the log predictive in the softmax; 0: the one that makes "
                                                 "probabilities of classes left out right"));
}

}  // namespace protocom::methods
