#include "fewshot/method_definition.h"
#include "protocom/fewshot/distances.h"

namespace protocom::methods {
namespace {

struct Options {
  double sharpness = 1;
};

class ProtoNet : public Method {
 public:
  explicit ProtoNet(Options options) : options_(options) {}

  [[nodiscard]] std::unique_ptr<Scorer> prepare(const MethodContext&) const override {
    return std::make_unique<NearestMean>(options_);
  }

 private:
  class NearestMean : public Scorer {
   public:
    explicit NearestMean(Options options) : options_(options) {}

    [[nodiscard]] EpisodeScores answer(const EpisodeBatch& batch) const override {
      const at::Tensor prototypes = mean_prototypes(statistics_of(batch));
      return {-options_.sharpness * squared_distances(batch.query, prototypes), prototypes};
    }

   private:
    Options options_;
  };

  Options options_;
};

}  // namespace

MethodDefinition proto_net() {
  MethodSpec spec;
  spec.name = "proto-net";
  spec.about = "nearest class mean by squared Euclidean distance";
  spec.citation = "Snell, Swersky, Zemel: Prototypical Networks for Few-shot Learning, NeurIPS 2017";
  spec.notes =
      "The classifier of ProtoNet on the backbone as it is; ProtoNet’s own episodic training of the backbone is not "
      "part of it.";
  return define<ProtoNet>(std::move(spec), Parameters<Options>().real("sharpness", &Options::sharpness, {1e-6},
                                                                      "factor of the squared distance"));
}

}  // namespace protocom::methods
