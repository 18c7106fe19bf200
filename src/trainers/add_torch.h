#pragma once

namespace protocom {

/// Gives the core all that LibTorch does for it: the functions that it leaves to a plug-in (base/plugin.h).
/// src/add_torch.cc calls it at the start of a program that it is linked into, and where the plug-in is loaded.
void add_torch();

}  // namespace protocom
