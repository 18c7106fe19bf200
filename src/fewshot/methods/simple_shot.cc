#include <ATen/ATen.h>

#include "fewshot/method_definition.h"
#include "protocom/fewshot/distances.h"
#include "protocom/nn/unit_vectors.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string transform = "cl2n";
};

class SimpleShot : public Method {
 public:
  explicit SimpleShot(Options options) : options_(std::move(options)) {}

  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    return std::make_unique<NearestMean>(options_, context.base->features.mean(0));
  }

 private:
  class NearestMean : public Scorer {
   public:
    NearestMean(const Options& options, at::Tensor base_mean) : options_(options), base_mean_(std::move(base_mean)) {}

    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      EpisodeBatch moved = batch;
      moved.support = transformed(batch.support);
      const at::Tensor prototypes = mean_prototypes(statistics_of(moved));              // [b, n, d]
      return {-squared_distances(transformed(batch.query), prototypes), at::Tensor()};  // [b, q, n]
    }

   private:
    [[nodiscard]] at::Tensor transformed(const at::Tensor& features) const {
      if (options_.transform == "none") return features;
      return unit_vectors(options_.transform == "l2n" ? features : features - base_mean_);
    }

    Options options_;
    at::Tensor base_mean_;  // [d]
  };

  Options options_;
};

}  // namespace

MethodDefinition simple_shot() {
  MethodSpec spec;
  spec.name = "simple-shot";
  spec.about = "nearest mean of centred unit vectors";
  spec.citation =
      "Wang, Chao, Weinberger, van der Maaten: SimpleShot: Revisiting Nearest-Neighbor Classification for Few-Shot "
      "Learning, 2019";
  spec.needs = {Need::kBaseFeatures, Need::kSupportImages};
  spec.notes = "Probabilities are softmax(-squared Euclidean distance), which the paper leaves open.";
  return define<SimpleShot>(std::move(spec),
                            Parameters<Options>().choice("transform", &Options::transform, {"none", "l2n", "cl2n"},
                                                         "none; unit length; less the base images' mean, then unit "
                                                         "length"));
}

}  // namespace protocom::methods
