#include "fewshot/trained/am3.h"
#include "fewshot/trained/detail/am3_parameters.h"
#include "fewshot/trained/detail/define_trained.h"

namespace protocom::methods {

MethodDefinition multi_sem() {
  MethodSpec spec;
  spec.name = "multi-sem";
  spec.about = "am3 once for the words of a class, then for its attributes";
  spec.citation =
      "Schwartz, Karlinsky, Feris, Giryes, Bronstein: Baby Steps Towards Few-Shot Learning with Multiple Semantics, "
      "2019 (Pattern Recognition Letters 2022)";
  spec.needs = {Need::kFitting, Need::kKnowledge};
  spec.notes =
      "Each block mixes the output of the block before with its own semantics; the loss is the sum over the blocks, "
      "the answer the last one’s. The source also has sentences that describe a class, which protocom’s knowledge "
      "lacks, and also trains the backbone. The rest as in am3.";
  return define_trained(std::move(spec), with_am3_parameters(Parameters<Am3Options>()));
}

}  // namespace protocom::methods
