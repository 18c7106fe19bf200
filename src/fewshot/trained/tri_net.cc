#include "fewshot/trained/tri_net.h"

#include "fewshot/trained/detail/define_trained.h"
#include "fewshot/trained/detail/head_parameters.h"

namespace protocom::methods {

MethodDefinition tri_net() {
  MethodSpec spec;
  spec.name = "tri-net";
  spec.about = "logistic regression on the supports and on features generated from their semantics with noise";
  spec.citation =
      "Chen, Fu, Zhang, Jiang, Xue, Sigal: Multi-level Semantic Feature Augmentation for One-shot Learning, TIP 2019";
  spec.needs = {Need::kFitting, Need::kFeatureMaps};
  spec.notes =
      "A network predicts the class's semantics from an image's map, Gaussian noise is added, another network makes "
      "maps from the result (the dual TriNet with semantic Gaussian augmentation). A head on the last maps of a frozen "
      "backbone; the source encodes and decodes those of four blocks, and what it makes of earlier ones goes through "
      "the blocks that follow. Two layers instead of its convolutions, equal weight of both errors, logistic "
      "regression with c as `logistic-regression` has it, Adam, and the step chosen on held-out classes are ours. "
      "Fitting needs knowledge of the base classes (`fit --knowledge`); answering needs none.";
  return define_trained(
      std::move(spec),
      with_head_steps(
          Parameters<TriNetOptions>()
              .for_fitting()
              .choice("semantics", &TriNetOptions::semantics, semantics_kinds(), kSemanticsText)
              .tries({"attributes", "both"})
              .whole("hidden", &TriNetOptions::hidden, {1}, "units of the hidden layers")
              .for_answers()
              .whole("made", &TriNetOptions::made, {0, 1000}, "images made of each support")
              .tries({"1", "16"})
              .real("noise", &TriNetOptions::noise, {}, "standard deviation, of semantics whose values are of size 1")
              .tries({"0", "0.5", "1"})
              .real("c", &TriNetOptions::c, {1e-6, 1000}, "weight of the loss against the penalty")
              .tries({"0.1", "10"})
              .for_fitting()
              .whole("batch", &TriNetOptions::batch, {1}, "base images per step")));
}

}  // namespace protocom::methods
