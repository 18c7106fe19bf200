#include <ATen/ATen.h>

#include "fewshot/plda_method.h"
#include "protocom/core/error.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string proportions = "estimate";
  int64_t steps = 0;
  double scale = 0;
};

Proportions proportions_of(const Options& options) {
  return options.proportions == "balanced" ? Proportions::kBalanced : Proportions::kEstimate;
}

class PldaVb : public PldaMethod {
 public:
  explicit PldaVb(Options options) : options_(std::move(options)) {}

  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    return std::make_unique<Mixture>(prepared(context), options_);
  }

 private:
  /// The E-step of variational EM over the queries, or over the pool.
  class Mixture : public Scorer {
   public:
    Mixture(Prepared prepared, Options options) : prepared_(std::move(prepared)), options_(std::move(options)) {}

   private:
    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      const PldaModel& model = *prepared_.model;
      if (!batch.support.defined()) fail("'plda-vb' needs each support image's feature");
      PldaVbOptions vb = model.vb;
      vb.proportions = proportions_of(options_);
      if (options_.steps > 0) vb.steps = options_.steps;
      const SupportStatistics support = supports_in(model.space, batch);
      const at::Tensor queries = model.space.transform(batch.query);
      const at::Tensor unlabelled = batch.unlabelled.defined() ? model.space.transform(batch.unlabelled) : queries;
      const PldaVbResult result =
          plda_vb(prior_of(model, prepared_.descriptions, batch), support.count, support.sum, unlabelled, vb);
      const double scale = options_.scale > 0 ? options_.scale : model.transductive_scale;
      return {scale * plda_vb_scores(result, queries, vb), at::Tensor()};
    }

    Prepared prepared_;
    Options options_;
  };

  Options options_;
};

}  // namespace

MethodDefinition plda_vb() {
  MethodSpec spec;
  spec.name = "plda-vb";
  spec.about = "the same, with the unlabelled images in a variational mixture of the classes";
  spec.citation = kPldaCitation;
  spec.sees = Sees::kAllQueries;
  spec.needs = {Need::kFitting, Need::kSupportImages};
  spec.fitted_as = "plda";
  spec.notes =
      "Takes the file of `protocom fit --method plda`. How many images each class has is estimated; "
      "proportions=balanced "
      "assumes as many of each, which gains a little where it is true and loses much where it is not.";
  return define<PldaVb>(
      std::move(spec),
      Parameters<Options>()
          .choice("proportions", &Options::proportions, {"estimate", "balanced"}, "of the classes among the unlabelled")
          .whole("steps", &Options::steps, {0}, "of variational EM; 0: as fitted")
          .real("scale", &Options::scale, {}, "factor of the scores in the softmax; 0: as fitted"));
}

}  // namespace protocom::methods
