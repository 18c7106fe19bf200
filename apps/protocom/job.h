#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "jobs/process_group.h"

namespace protocom::cli {

/// Returns the processes that run this command together, as stated by torchrun, mpirun, srun or RANK and WORLD_SIZE;
/// they join at the first call. All but the first then report no progress and print no results, and the processes of a
/// machine share its cores unless --threads is given. Throws UsageError in all of them if one was started with another
/// command, other options or other input files.
const ProcessGroup& job();

/// Sets what job() compares: the command that is about to run, with its options.
void set_job_command(const CLI::App& command);

/// Tells the other processes, if there are any, that this one is done.
void leave_job();

/// Tells the other processes, if there are any, why this one ends; ends this one at once if another does not answer,
/// since waiting would never end then.
void end_job(const std::string& reason);

}  // namespace protocom::cli
