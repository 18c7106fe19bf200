#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "jobs/process_group.h"

namespace protocom::cli {

/// The processes that run this command together, as torchrun, mpirun, srun or RANK and WORLD_SIZE say; joined at the
/// first call. All but the first then report no progress and print no results, and the processes of a machine share its
/// cores unless --threads says otherwise. Throws UsageError in all of them when one was started with another command,
/// other options or other input files.
const ProcessGroup& job();

/// What job() compares: the command that is about to run, with its options.
void set_job_command(const CLI::App& command);

/// Tells the other processes, if there are any, that this one has done its part.
void leave_job();

/// Tells the other processes, if there are any, why this one ends; ends this one at once when another does not answer,
/// for waiting would never end then.
void end_job(const std::string& reason);

}  // namespace protocom::cli
