#include "fewshot/trained/am3.h"

#include "fewshot/trained/detail/am3_parameters.h"
#include "fewshot/trained/detail/define_trained.h"
#include "fewshot/trained/detail/head_parameters.h"

namespace protocom::methods {

MethodDefinition am3() {
  MethodSpec spec;
  spec.name = "am3";
  spec.about = "class means mixed with prototypes made from knowledge, by a learned share for each class";
  spec.citation =
      "Xing, Rostamzadeh, Oreshkin, Pinheiro: Adaptive Cross-Modal Few-shot Learning, NeurIPS 2019 (AM3-ProtoNet)";
  spec.needs = {Need::kFitting, Need::kKnowledge};
  spec.notes =
      "A head on frozen features; the source trains the backbone with it. Features at unit length, a learned scale of "
      "the squared distance, Adam, and the step chosen on held-out classes are ours. A class without knowledge keeps "
      "its mean. The source trains one model for each number of shots: set `shots`.";
  return define_trained(std::move(spec), with_am3_parameters(Parameters<Am3SemanticsOptions>()
                                                                 .for_fitting()
                                                                 .choice("semantics", &Am3SemanticsOptions::semantics,
                                                                         semantics_kinds(), kSemanticsText)
                                                                 .tries({"attributes", "words"})));
}

}  // namespace protocom::methods
