#include <ATen/ATen.h>

#include "fewshot/method_definition.h"
#include "fewshot/plda/closed_form.h"
#include "fewshot/toolbox/episode_points.h"
#include "protocom/nn/unit_vectors.h"

namespace protocom::methods {
namespace {

struct Options {
  double scale = 1;
};

class GaussianDiscriminant : public Scorer {
 public:
  GaussianDiscriminant(const Options& options, const MethodContext&) : options_(options) {}

  [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
    const EpisodePoints points = supports_and_queries(batch);
    const at::Tensor x = unit_vectors(points.supports_of(points.features)).to(at::kDouble);  // [b, s, d]
    const at::Tensor y = points.supports_of(points.labels);                                  // [b, s, n]
    const at::Tensor q = unit_vectors(batch.query).to(at::kDouble);                          // [b, q, d]
    std::vector<at::Tensor> logits;
    for (int64_t i = 0; i < batch.size(); ++i) logits.push_back(options_.scale * closed_form_scores(x[i], y[i], q[i]));
    return {at::stack(logits).to(at::kFloat), at::Tensor()};
  }

 private:
  Options options_;
};

}  // namespace

MethodDefinition gda() {
  MethodSpec spec;
  spec.name = "gda";
  spec.about = "Gaussians with one covariance, found from the supports of each episode";
  spec.citation =
      "Wang, Liang, Sheng, He, Wang, Tan: A Hard-to-Beat Baseline for Training-free CLIP-based Adaptation, ICLR 2024";
  spec.notes =
      "Their closed form on unit features without the text term, all classes as likely. With one image per class it is "
      "the nearest class mean.";
  return define_scorer<GaussianDiscriminant>(
      std::move(spec), Parameters<Options>().real("scale", &Options::scale, {1e-6}, "factor of the log density"));
}

}  // namespace protocom::methods
