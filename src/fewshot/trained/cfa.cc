#include "fewshot/trained/cfa.h"

#include "fewshot/trained/detail/define_trained.h"
#include "fewshot/trained/detail/head_parameters.h"

namespace protocom::methods {

MethodDefinition cfa() {
  MethodSpec spec;
  spec.name = "cfa";
  spec.about = "nearest class mean by cosine of local features that are summed by codewords in groups of channels";
  spec.citation =
      "Hu, Sun, Saenko, Sclaroff: Weakly-supervised Compositional Feature Aggregation for Few-shot Recognition, "
      "arXiv 1906.04833, 2019";
  spec.needs = {Need::kFitting, Need::kFeatureMaps};
  spec.notes =
      "A head on frozen feature maps; the source trains the backbone through it. A group’s local features x are summed "
      "as outer products with their soft shares of codewords, softmax(w x + b), the group brought to unit length, and "
      "all groups put one after the other. Learned on base classes with a cosine classifier, of which a new class’s "
      "weight is the mean of its supports. Frozen channels are in no order that makes groups, so they are first mixed "
      "linearly, from the identity on; that, the numbers of groups and codewords, Adam, and the step chosen on "
      "held-out "
      "classes are ours, since no code of the source is public.";
  return define_trained(
      std::move(spec),
      with_head_steps(
          Parameters<CfaOptions>()
              .for_fitting()
              .choice("mixing", &CfaOptions::mixing, {"learned", "none"},
                      "of the channels before they are divided into groups")
              .tries({"none"})
              .whole("groups", &CfaOptions::groups, {1}, "of channels; their number must be a multiple of it")
              .tries({"1", "8"})
              .whole("codewords", &CfaOptions::codewords, {1}, "a group; 1 is the mean of all places")
              .tries({"1", "8"})
              .whole("batch", &CfaOptions::batch, {1}, "base images per step")));
}

}  // namespace protocom::methods
