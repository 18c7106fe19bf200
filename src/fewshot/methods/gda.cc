#include <ATen/ATen.h>

#include "fewshot/method_definition.h"
#include "fewshot/plda/adaptation.h"
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
    for (int64_t i = 0; i < batch.size(); ++i) logits.push_back(options_.scale * log_densities(x[i], y[i], q[i]));
    return {at::stack(logits).to(at::kFloat), at::Tensor()};
  }

 private:
  /// q P mu' - mu P mu' / 2 with P = d ((N - 1) Sigma + tr(Sigma) I)^-1 of supports x [s, d], y [s, n]: [q, n].
  static at::Tensor log_densities(const at::Tensor& x, const at::Tensor& y, const at::Tensor& q) {
    const at::Tensor there = y.sum(-1).nonzero().flatten();
    const at::Tensor images = x.index_select(0, there);
    const at::Tensor labels = y.index_select(0, there).argmax(-1);
    const at::Tensor means = at::mm(y.t().to(at::kDouble), x) / y.sum(0).unsqueeze(1);
    const Scatter scatter =
        scatter_of(within_rows(images, labels, y.size(1)), static_cast<double>(images.size(0) - y.size(1)));
    const auto dims = static_cast<double>(x.size(1));
    const double total = scatter.eigenvalues.sum().item<double>();
    const double ridge = total / static_cast<double>(std::max<int64_t>(images.size(0) - 1, 1));
    const auto whitened = [&](const at::Tensor& rows) -> at::Tensor {
      if (!(ridge > 0)) return rows;  // no class has two different images: as if P were the identity
      const at::Tensor gain = (scatter.eigenvalues + ridge).reciprocal() - 1 / ridge;
      return dims * (rows / ridge + at::mm(at::mm(rows, scatter.directions) * gain, scatter.directions.t()));
    };
    const at::Tensor weights = whitened(means);  // [n, d]
    return at::mm(q, weights.t()) - 0.5 * (weights * means).sum(1);
  }

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
