#pragma once
#include <memory>

#include "base/plugin.h"
#include "jobs/connection.h"
#include "jobs/launch.h"

namespace protocom {

/// Joins a job of several processes; see ProcessGroup's constructor.
extern PluginFunction<std::unique_ptr<Connection>(const Launch&, OnLoss)> torch_connect;

}  // namespace protocom
