#pragma once
#include "protocom/core/process_group.h"

namespace protocom::cli {

/// The processes that run this command together, as torchrun, mpirun, srun or RANK and WORLD_SIZE say; joined at the
/// first call. All but the first then report no progress and print no results, and the processes of a machine share its
/// cores unless --threads says otherwise.
const ProcessGroup& job();

}  // namespace protocom::cli
