#include "distributed/tensor_sums.h"

#include "distributed/detail/torch_connection.h"

namespace protocom {
namespace {

/// Returns the connection of a group of several.
TorchConnection& connection_of(const ProcessGroup& group) {
  return dynamic_cast<TorchConnection&>(*group.connection());
}

}  // namespace

void sum(const ProcessGroup& group, const at::Tensor& tensor) {
  if (!group.is_single()) connection_of(group).sum(tensor);
}

std::function<void()> start_sum(const ProcessGroup& group, const at::Tensor& tensor) {
  if (group.is_single()) return [] {};
  return connection_of(group).start_sum(tensor);
}

void broadcast(const ProcessGroup& group, const at::Tensor& tensor) {
  if (!group.is_single()) connection_of(group).broadcast(tensor);
}

void explain(const ProcessGroup& group, const std::exception& error) {
  if (!group.is_single()) connection_of(group).explain(error);
}

}  // namespace protocom
