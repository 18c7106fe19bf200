#include "fewshot/detail/method_definition.h"
#include "fewshot/toolbox/distances.h"

namespace protocom::methods {
namespace {

struct Options {
  double sharpness = 1;
};

EpisodeScores answer(const EpisodeBatch& batch, const Options& options) {
  const at::Tensor prototypes = mean_prototypes(statistics_of(batch));
  return {-options.sharpness * squared_distances(batch.query, prototypes), prototypes};
}

}  // namespace

MethodDefinition proto_net() {
  MethodSpec spec;
  spec.name = "proto-net";
  spec.about = "nearest class mean by squared Euclidean distance";
  spec.citation = "Snell, Swersky, Zemel: Prototypical Networks for Few-shot Learning, NeurIPS 2017";
  spec.notes =
      "The classifier of ProtoNet on the backbone as it is; ProtoNet’s own episodic training of the backbone is not "
      "part of it.";
  return define_answer(
      std::move(spec), &answer,
      Parameters<Options>().real("sharpness", &Options::sharpness, {1e-6}, "factor of the squared distance"));
}

}  // namespace protocom::methods
