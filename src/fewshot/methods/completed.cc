#include "fewshot/paper/detail/define_paper_row.h"

namespace protocom::methods {

/// Row (ii): the mean through ProtoComNet, equation 7.
MethodDefinition completed() {
  MethodSpec spec;
  spec.name = "completed";
  spec.about = "prototype that a trained network predicts from the mean and the class’s attributes";
  spec.needs = {Need::kCompletionModel};
  spec.paper_row = 2;
  spec.symbol = "p̂";
  return define_paper_row(std::move(spec));
}

}  // namespace protocom::methods
