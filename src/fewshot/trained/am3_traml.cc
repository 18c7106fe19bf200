#include "fewshot/trained/am3_traml.h"

#include "fewshot/trained/detail/am3_parameters.h"
#include "fewshot/trained/detail/define_trained.h"
#include "fewshot/trained/detail/head_parameters.h"

namespace protocom::methods {

MethodDefinition am3_traml() {
  MethodSpec spec;
  spec.name = "am3-traml";
  spec.about = "am3 trained with a margin that grows with the similarity of two classes";
  spec.citation =
      "Li, Huang, Lan, Feng, Li, Wang: Boosting Few-Shot Learning With Adaptive Margin Loss, CVPR 2020; Xing et al.: "
      "Adaptive Cross-Modal Few-shot Learning, NeurIPS 2019";
  spec.needs = {Need::kFitting, Need::kKnowledge};
  spec.notes =
      "The class-relevant margin alpha cos + beta of the semantic vectors, added to the logits of wrong classes in the "
      "loss only; answers are a plain softmax. alpha and beta are parameters here, since training would only lower "
      "them; the source's margins that also look at the other classes of the task are left out. The rest as in am3.";
  return define_trained(
      std::move(spec),
      with_am3_parameters(
          Parameters<Am3TramlOptions>()
              .for_fitting()
              .choice("semantics", &Am3TramlOptions::semantics, semantics_kinds(), kSemanticsText)
              .tries({"attributes", "words"})
              .real("alpha", &Am3TramlOptions::alpha, {0}, "margin of two classes of the same meaning")
              .tries({"0.1", "0.3", "3"})
              .real("beta", &Am3TramlOptions::beta, {}, "margin of two classes that have nothing in common")));
}

}  // namespace protocom::methods
