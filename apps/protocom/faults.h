#pragma once

namespace protocom::cli {

/// Installs handlers so that a memory fault in code that came with a file (TorchScript), or in a file that is truncated
/// while it is mapped, ends the program with one sentence and exit code 1. Faults of our own still leave a core file.
void catch_faults();

}  // namespace protocom::cli
