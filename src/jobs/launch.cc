#include "jobs/launch.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>

#include "base/error.h"

namespace protocom {
namespace {

constexpr int kShortestSilence = 4;  // others are checked every two seconds

/// Returns the first of the variables that is set.
std::optional<int> read_number(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == 0) continue;
    int value = 0;
    const char* end = text + std::strlen(text);
    const auto result = std::from_chars(text, end, value);
    if (result.ec != std::errc() || result.ptr != end || value < 0)
      fail_usage("{}: expected a number of at least 0, found '{}'", name, text);
    return value;
  }
  return std::nullopt;
}

}  // namespace

Launch launch_from_environment() {
  Launch launch;
  launch.size = read_number({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}).value_or(1);
  // A shell inside a batch job has SLURM_NTASKS without having been started by srun.
  const std::optional<int> rank = read_number({"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
  if (launch.size <= 1 || (!rank && std::getenv("WORLD_SIZE") == nullptr)) return {};
  if (!rank) fail_usage("WORLD_SIZE is {}, but RANK is not set: use torchrun, or set both", launch.size);
  launch.rank = *rank;
  if (launch.rank >= launch.size)
    fail_usage("RANK: expected less than WORLD_SIZE ({}), found {}", launch.size, launch.rank);
  launch.local_rank = read_number({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
                          .value_or(launch.rank);
  if (const char* host = std::getenv("MASTER_ADDR")) launch.host = host;
  const bool one_machine = launch.host == "localhost" || launch.host == "127.0.0.1";
  launch.local_size = read_number({"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
                          .value_or(one_machine ? launch.size : 1);
  launch.port = read_number({"MASTER_PORT"}).value_or(launch.port);
  if (launch.port < 1 || launch.port > 65535) fail_usage("MASTER_PORT: expected 1 to 65535, found {}", launch.port);
  launch.patience = std::chrono::seconds(read_number({"PROTOCOM_PATIENCE"}).value_or(launch.patience.count()));
  launch.silence = std::chrono::seconds(read_number({"PROTOCOM_SILENCE"}).value_or(launch.silence.count()));
  if (launch.silence.count() < kShortestSilence)
    fail_usage("PROTOCOM_SILENCE: expected at least {} s, found {}", kShortestSilence, launch.silence.count());
  const char* hosted = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  launch.hosted_store = hosted != nullptr && std::strcmp(hosted, "True") == 0;
  return launch;
}

}  // namespace protocom
