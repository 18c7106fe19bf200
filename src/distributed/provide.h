#pragma once

namespace protocom {

/// Registers this module as the one that connects the processes of a job (torch_connect).
void provide_distributed();

}  // namespace protocom
