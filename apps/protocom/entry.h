#pragma once

namespace protocom::cli {

/// Implements `main`: prepares the process, parses and runs the command line, and ends the process with the exit code.
/// The process may have been forked, not executed: nothing of LibTorch must have run in it yet, and it must have one
/// thread.
[[noreturn]] void run_program(int argc, char** argv);

}  // namespace protocom::cli
