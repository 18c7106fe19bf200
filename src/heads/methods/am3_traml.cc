#include "heads/detail/am3_method.h"

namespace protocom::methods {
namespace {

struct Options : Am3Options {
  std::string semantics = "both";
  double alpha = 1;
  double beta = 0;
};

class Am3Traml : public Am3Method {
 public:
  explicit Am3Traml(const Options& options)
      : Am3Method(options, {{options.semantics}, {options.alpha, options.beta}}) {}
};

}  // namespace

MethodDefinition am3_traml() {
  MethodSpec spec;
  spec.name = "am3-traml";
  spec.about = "am3 trained with a margin that grows with the likeness of two classes";
  spec.citation =
      "Li, Huang, Lan, Feng, Li, Wang: Boosting Few-Shot Learning With Adaptive Margin Loss, CVPR 2020; Xing et al.: "
      "Adaptive Cross-Modal Few-shot Learning, NeurIPS 2019";
  spec.needs = {Need::kFitting, Need::kKnowledge};
  spec.notes =
      "The class-relevant margin alpha cos + beta of the semantic vectors, added to the logits of wrong classes in the "
      "loss only; answers are a plain softmax. alpha and beta are parameters here, since a loss that they are in falls "
      "with them; the source's margins that also look at the other classes of the task are left out. The rest as in "
      "am3.";
  return define<Am3Traml>(
      std::move(spec),
      with_am3_parameters(Parameters<Options>()
                              .for_fitting()
                              .choice("semantics", &Options::semantics, semantics_kinds(), kSemanticsText)
                              .tries({"attributes", "words"})
                              .real("alpha", &Options::alpha, {0}, "margin of two classes of the same meaning")
                              .tries({"0.1", "0.3", "3"})
                              .real("beta", &Options::beta, {}, "margin of two classes that have nothing in common")));
}

}  // namespace protocom::methods
