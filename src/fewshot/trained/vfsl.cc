#include "fewshot/trained/vfsl.h"

#include "fewshot/trained/detail/define_trained.h"
#include "fewshot/trained/detail/head_parameters.h"

namespace protocom::methods {

MethodDefinition vfsl() {
  MethodSpec spec;
  spec.name = "vfsl";
  spec.about = "a Gaussian per class, inferred from its images by a network trained by variational inference";
  spec.citation = "Zhang, Zhao, Ni, Xu, Yang: Variational Few-Shot Learning, ICCV 2019";
  spec.needs = {Need::kFitting};
  spec.notes =
      "No code of the source is public; this is its idea on frozen features: q(class mean | supports) from a network, "
      "a learned prior, cross-entropy of the queries under one draw of the means plus the divergence from the prior, "
      "and densities with the means integrated out as the answer. The bound itself (divergence=1) learns nothing on "
      "frozen features that helps on held-out classes, on which the step is chosen; hence its small weight. Set "
      "`shots` to that of the tasks to answer.";
  return define_trained(
      std::move(spec),
      with_head_steps(
          Parameters<VfslOptions>()
              .for_fitting()
              .choice("space", &VfslOptions::space, unit_spaces(), kUnitSpacesText)
              .whole("ways", &VfslOptions::ways, {2}, "classes of the tasks it is trained on")
              .tries({"5"})
              .whole("shots", &VfslOptions::shots, {1}, "labelled images per class of the tasks it is trained on")
              .whole("hidden", &VfslOptions::hidden, {1}, "units of the hidden layer")
              .real("divergence", &VfslOptions::divergence, {},
                    "weight of the divergence from the prior; 1: the bound itself")
              .tries({"0.001", "0.1"})));
}

}  // namespace protocom::methods
