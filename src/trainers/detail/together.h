#pragma once
#include <optional>

#include "jobs/process_group.h"
#include "networks/backbone.h"
#include "trainers/detail/training_keeper.h"

namespace protocom {

/// Returns what each process of a group may write: process 0 what was requested, the others nothing. They stop when all
/// have agreed to; a single process stops on request.
TrainingFiles files_of(const ProcessGroup& group, const TrainingFiles& files, StopSignal& agreed);

/// Runs keeper.begin() on process 0 and sends its state to all the others: only that machine needs the file, and the
/// number of processes may differ from when it was written.
std::optional<Checkpoint> begin_together(TrainingKeeper& keeper, const ProcessGroup& group);

/// Sets the batch norms' running statistics to those of process 0.
void share_buffers(const Backbone& backbone, const ProcessGroup& group);

/// Throws UsageError unless the `count` items of a step divide evenly among the processes.
void check_divides(int64_t count, const char* what, const ProcessGroup& group);

/// Returns the device of this process: of several on a machine each takes the GPU of its local rank, unless `device`
/// names one.
std::string device_of(const ProcessGroup& group, const std::string& device);

}  // namespace protocom
