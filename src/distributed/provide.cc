#include "distributed/provide.h"

#include <memory>
#include <utility>

#include "distributed/detail/torch_connection.h"
#include "jobs/torch_functions.h"

namespace protocom {

void provide_distributed() {
  torch_connect.provide([](const Launch& launch, OnLoss on_loss) -> std::unique_ptr<Connection> {
    return std::make_unique<TorchConnection>(launch, std::move(on_loss));
  });
}

}  // namespace protocom
