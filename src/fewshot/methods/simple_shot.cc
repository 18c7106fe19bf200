#include "fewshot/feature_space.h"
#include "fewshot/method_definition.h"
#include "protocom/fewshot/distances.h"

namespace protocom::methods {
namespace {

struct Options {
  std::string transform = "cl2n";
};

class SimpleShot : public Method {
 public:
  explicit SimpleShot(Options options) : options_(std::move(options)) {}

  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext& context) const override {
    return std::make_unique<NearestMean>(FeatureSpace(options_.transform, context));
  }

 private:
  class NearestMean : public Scorer {
   public:
    explicit NearestMean(FeatureSpace space) : space_(std::move(space)) {}

    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      const EpisodeBatch moved = space_.of(batch);
      return {-squared_distances(moved.query, mean_prototypes(statistics_of(moved))), at::Tensor()};  // [b, q, n]
    }

   private:
    FeatureSpace space_;
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
  return define<SimpleShot>(std::move(spec), Parameters<Options>().choice("transform", &Options::transform,
                                                                          FeatureSpace::names(), FeatureSpace::kText));
}

}  // namespace protocom::methods
