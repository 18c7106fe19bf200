#include "fewshot/trained/ctm.h"

#include "fewshot/trained/detail/define_trained.h"
#include "fewshot/trained/detail/head_parameters.h"

namespace protocom::methods {

MethodDefinition ctm() {
  MethodSpec spec;
  spec.name = "ctm";
  spec.about =
      "nearest class mean after weighting channels and positions by how well they distinguish the task’s classes";
  spec.citation =
      "Li, Eigen, Dodge, Zeiler, Wang: Finding Task-Relevant Features for Few-Shot Learning by Category Traversal, "
      "CVPR 2019";
  spec.needs = {Need::kFitting, Need::kFeatureMaps};
  spec.notes =
      "A head on frozen feature maps; the source trains the backbone with it. One 3x3 convolution as concentrator and "
      "one as projector, where the source has residual blocks, a 1x1 convolution as reshaper that begins as a "
      "rotation, squared distance of unit vectors with a learned scale, Adam, and the step chosen on held-out classes "
      "are ours. The projector takes a fixed number of classes in order, so the source answers only tasks of `ways` "
      "classes, in a random order. Here classes are ordered by the sum of the concentrator’s output, and the mask is "
      "the mean over all runs of `ways` neighbours in this circular order: with fewer classes a run repeats some, with "
      "more it has only some of them. Set `ways` and `shots` to those of the tasks to answer.";
  return define_trained(
      std::move(spec),
      with_head_steps(
          Parameters<CtmOptions>()
              .for_fitting()
              .whole("ways", &CtmOptions::ways, {2},
                     "classes of the tasks it is trained on, and that the projector takes")
              .whole("shots", &CtmOptions::shots, {1}, "labelled images per class of the tasks it is trained on")
              .whole("channels", &CtmOptions::channels, {1}, "of what the three networks give")
              .tries({"32", "128"})
              .choice("compare", &CtmOptions::compare, {"pooled", "places"},
                      "pooled: the mean over places; places: all places one after the other")
              .tries({"places"})));
}

}  // namespace protocom::methods
