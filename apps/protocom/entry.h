#pragma once

namespace protocom::cli {

/// All of `main`: prepares the process, parses and runs the command line, and ends the process with the exit code. The
/// process may have been forked, not executed: nothing of LibTorch has run in it yet, and it has one thread.
[[noreturn]] void run_program(int argc, char** argv);

}  // namespace protocom::cli
