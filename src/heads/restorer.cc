#include "heads/detail/restorer.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "heads/detail/expect_tensor.h"

namespace protocom {

void Restorer::fields(StateFields& fields) {
  network.fields(fields, "", {-1, -1, -1});
  expect_tensor(network.output_bias, {"output.bias", at::kFloat, {network.in()}});
}

at::Tensor Restorer::restored(const at::Tensor& prototypes, double share) const {
  if (prototypes.size(-1) != network.in())
    fail("'restore-net' was fitted on features of {} dimensions, found {}: extract both with the same encoder",
         network.in(), prototypes.size(-1));
  return (1 - share) * prototypes + share * network(prototypes);
}

}  // namespace protocom
