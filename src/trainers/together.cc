#include "trainers/detail/together.h"

#include <torch/torch.h>

#include "base/error.h"
#include "distributed/tensor_sums.h"
#include "io/files.h"
#include "io/unfinished.h"
#include "tensors/device.h"

namespace protocom {

TrainingFiles files_of(const ProcessGroup& group, const TrainingFiles& files, StopSignal& agreed) {
  TrainingFiles own = files;
  if (!group.is_main()) own.out.clear();
  if (!group.is_single()) own.stop = &agreed;
  return own;
}

std::optional<Checkpoint> begin_together(TrainingKeeper& keeper, const ProcessGroup& group) {
  std::optional<Checkpoint> saved = keeper.begin();
  if (group.is_single()) return saved;
  // The others may run on other machines, where the first process's file does not exist.
  const std::string bytes = group.broadcast(saved ? read_file(saved->path) : std::string());
  if (group.is_main() || bytes.empty()) return saved;
  const UnfinishedPath copy(temporary_beside(std::filesystem::temp_directory_path() / "protocom-state"));
  write_new_file(copy.path(), bytes);
  return read_checkpoint(copy.path());
}

void share_buffers(const Backbone& backbone, const ProcessGroup& group) {
  if (group.is_single()) return;
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : backbone.state_dict()) {
    if (!tensor.requires_grad()) broadcast(group, tensor);
  }
}

void check_divides(int64_t count, const char* what, const ProcessGroup& group) {
  if (count % group.size() != 0) fail_usage("{} {} are not divisible by {} processes", count, what, group.size());
}

std::string device_of(const ProcessGroup& group, const std::string& device) {
  if (group.is_single() || (device != "auto" && device != "cuda")) return device;
  return parse_device(device).is_cuda() ? "cuda:" + std::to_string(group.local_rank()) : "cpu";
}

}  // namespace protocom
