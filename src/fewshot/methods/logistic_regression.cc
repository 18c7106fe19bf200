#include "fewshot/toolbox/detail/linear_head.h"

namespace protocom::methods {
MethodDefinition logistic_regression() {
  MethodSpec spec;
  spec.name = "logistic-regression";
  spec.about = "multinomial logistic regression on the supports of each episode";
  spec.citation =
      "Tian, Wang, Krishnan, Tenenbaum, Isola: Rethinking Few-Shot Image Classification: a Good Embedding Is All You "
      "Need?, ECCV 2020";
  spec.needs = {Need::kBaseFeatures};
  spec.notes =
      "Minimises |W|^2 / 2 + c times the sum of the cross-entropies, with a bias that is not penalised: what "
      "scikit-learn’s LogisticRegression minimises.";
  return define_linear_head(std::move(spec), {cross_entropy_problem, {"0.1", "10", "100"}});
}

}  // namespace protocom::methods
