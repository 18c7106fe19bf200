#pragma once
#include <chrono>
#include <string>

namespace protocom {

/// Where this process stands among those of its job, as the launcher says it.
struct Launch {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the processes of this machine: the GPU it takes
  int local_size = 1;  ///< processes of this machine, which share its cores
  std::string host = "127.0.0.1";
  int port = 29500;
  std::chrono::seconds patience{60};  ///< until all have joined
  std::chrono::seconds silence{30};   ///< without a sign of life, until a process is taken for lost
  bool hosted_store = false;          ///< the launcher itself keeps the store where processes meet (torchrun)
};

/// Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT (torchrun, or by hand); where WORLD_SIZE is not set,
/// what mpirun (OMPI_COMM_WORLD_*, PMI_*) or srun (SLURM_*) set, with MASTER_ADDR and MASTER_PORT. PROTOCOM_PATIENCE is
/// the seconds to wait until all have joined, PROTOCOM_SILENCE those without a sign of life until a process is taken
/// for lost. A job of one if nothing is set. Throws UsageError for values that do not make sense.
Launch launch_from_environment();

}  // namespace protocom
