#pragma once
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "jobs/launch.h"

namespace protocom {

/// Connects to the store where the processes of a job meet, kept by process 0 or by the launcher. Throws Error if
/// process 0 does not start it within the patience; logs that it waits.
c10::intrusive_ptr<c10d::Store> open_store(const Launch& launch);
/// Opens another connection to the store: operations of one connection wait for one another.
c10::intrusive_ptr<c10d::Store> open_second_store(const Launch& launch);

/// Announces that this process has joined, and waits until all have; logs how many it waits for. Throws Error with the
/// ranks that have not joined within the patience.
void wait_for_all(c10d::Store& store, const Launch& launch);

/// Returns the numeric addresses by which this machine reaches the place where processes meet: it listens for the
/// others only at these. None if they are loopback addresses and there are processes on other machines.
std::vector<std::string> own_addresses(const Launch& launch);

}  // namespace protocom
