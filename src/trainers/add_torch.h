#pragma once

namespace protocom {

/// Registers with the core the functions that need LibTorch and that it leaves to a plug-in (base/plugin.h).
/// src/add_torch.cc calls it at the start of a program that links it, and when the plug-in is loaded.
void add_torch();

}  // namespace protocom
