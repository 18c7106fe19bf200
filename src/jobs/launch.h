#pragma once
#include <chrono>
#include <string>

namespace protocom {

/// This process's position among those of its job, as stated by the launcher.
struct Launch {
  int rank = 0;
  int size = 1;
  int local_rank = 0;  ///< among the processes of this machine: the GPU it uses
  int local_size = 1;  ///< number of processes of this machine, which share its cores
  std::string host = "127.0.0.1";
  int port = 29500;
  std::chrono::seconds patience{60};  ///< time until all must have joined
  std::chrono::seconds silence{30};   ///< time without a heartbeat after which a process counts as lost
  bool hosted_store = false;          ///< whether the launcher itself runs the store where processes meet (torchrun)
};

/// Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT (torchrun, or set by hand); if WORLD_SIZE is not
/// set, what mpirun (OMPI_COMM_WORLD_*, PMI_*) or srun (SLURM_*) set, with MASTER_ADDR and MASTER_PORT.
/// PROTOCOM_PATIENCE is `patience` and PROTOCOM_SILENCE is `silence`, in seconds. Returns a job of one process if
/// nothing is set. Throws UsageError for invalid values.
Launch launch_from_environment();

}  // namespace protocom
