#include "fewshot/paper/detail/define_paper_row.h"

namespace protocom::methods {

/// Row (i): p_k of equation 6.
MethodDefinition mean() {
  MethodSpec spec;
  spec.name = "mean";
  spec.about = "mean of the support images";
  spec.paper_row = 1;
  spec.symbol = "p";
  return define_paper_row(std::move(spec));
}

}  // namespace protocom::methods
