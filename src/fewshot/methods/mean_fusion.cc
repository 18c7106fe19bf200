#include "fewshot/paper/detail/define_paper_row.h"

namespace protocom::methods {

/// Row (iii): the average of the mean and the completed prototype.
MethodDefinition mean_fusion() {
  MethodSpec spec;
  spec.name = "mean-fusion";
  spec.about = "average of mean and completed prototype";
  spec.needs = {Need::kCompletionModel};
  spec.paper_row = 3;
  spec.symbol = "½ p + ½ p̂";
  return define_paper_row(std::move(spec));
}

}  // namespace protocom::methods
