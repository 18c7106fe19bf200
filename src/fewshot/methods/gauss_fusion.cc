#include "fewshot/paper/detail/define_paper_row.h"

namespace protocom::methods {

/// Row (iv): mean and completed prototype fused by their certainty, equations 12 to 14.
MethodDefinition gauss_fusion() {
  MethodSpec spec;
  spec.name = "gauss-fusion";
  spec.about = "mean and completed prototype, fused by their variances";
  spec.sees = Sees::kAllQueries;
  spec.assumes = Assumes::kBalancedQueries;
  spec.needs = {Need::kCompletionModel};
  spec.paper_row = 4;
  spec.symbol = "p̂′";
  spec.notes = "Accuracy rises if queries are balanced over the classes and falls if not.";
  auto parameters = paper_row_parameters();
  parameters.real("scale", &PaperRowOptions::scale, {}, "lambda of equation 12")
      .tries({"3", "5", "20", "40"})
      .whole("steps", &PaperRowOptions::steps, {1, 1000}, "EM steps; the paper has 1")
      .tries({"2", "3"})
      .real("epsilon", &PaperRowOptions::epsilon, {1e-12},
            "added to both variances; if both are 0, the two means have equal weight");
  return define_paper_row(std::move(spec), std::move(parameters));
}

}  // namespace protocom::methods
