#pragma once

namespace protocom {

/// Makes this module the one that connects the processes of a job (torch_connect).
void provide_distributed();

}  // namespace protocom
