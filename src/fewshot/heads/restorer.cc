#include "fewshot/heads/restorer.h"

#include <ATen/ATen.h>

#include "fewshot/toolbox/expect_tensor.h"
#include "protocom/core/error.h"

namespace protocom {

TwoLayers restorer_of(const MethodState& state) {
  TwoLayers restorer = TwoLayers::of(state, "");
  expect_tensor(restorer.output_bias, {"output.bias", at::kFloat, {restorer.in()}});
  return restorer;
}

at::Tensor restored(const TwoLayers& restorer, const at::Tensor& prototypes, double share) {
  if (prototypes.size(-1) != restorer.in())
    fail("'restore-net' was fitted on features of {} dimensions, these have {}", restorer.in(), prototypes.size(-1));
  return (1 - share) * prototypes + share * restorer(prototypes);
}

}  // namespace protocom
