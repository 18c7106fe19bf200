#pragma once
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "jobs/launch.h"

namespace protocom {

/// The store where the processes of a job meet, kept by process 0 or by the launcher. Throws Error when process 0 does
/// not keep it within the patience; logs that it waits.
c10::intrusive_ptr<c10d::Store> open_store(const Launch& launch);
/// The same store once more, over a connection of its own: operations of one connection wait for one another.
c10::intrusive_ptr<c10d::Store> open_second_store(const Launch& launch);

/// Says that this process is there, and waits until all are; logs for how many it waits. Throws Error with the ranks
/// that have not come within the patience.
void wait_for_all(c10d::Store& store, const Launch& launch);

/// The addresses, in digits, by which this machine reaches the place where processes meet: what it listens at for the
/// others, and not at any other of its addresses. None if those are loopback addresses and there are processes on
/// other machines.
std::vector<std::string> own_addresses(const Launch& launch);

}  // namespace protocom
