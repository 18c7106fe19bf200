#include "entry.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <system_error>

#include "base/blas_kernels.h"
#include "cli.h"
#include "faults.h"
#include "interrupt.h"
#include "job.h"
#include "standard_streams.h"
#include "terminal_progress.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace protocom::cli {
namespace {

/// Makes glibc keep the memory of large tensors for reuse. By default it returns every block above 32 MiB to the system
/// when it is freed, so that each forward pass has its pages mapped and cleared again: half of the time of `extract` at
/// 224 x 224 on a virtual machine. Free memory at the heap's end is returned from 1 GiB on. Does nothing with another C
/// library, or if MALLOC_MMAP_MAX_ or MALLOC_TRIM_THRESHOLD_ are set. Call it first.
void keep_freed_memory() {
#ifdef __GLIBC__
  if (std::getenv("MALLOC_MMAP_MAX_") != nullptr || std::getenv("MALLOC_TRIM_THRESHOLD_") != nullptr) return;
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

constexpr int kOk = 0;
constexpr int kFailure = 1;
constexpr int kUsage = 2;
constexpr int kSignalled = 128;  // plus the signal, as shells report it

int end(int code, const std::string& sentence) {
  terminal_progress().clear();
  say(fmt::format("protocom: {}\n", one_line(sentence)));
  return code;
}

int fail_with(int code, const std::string& sentence) {
  end(code, sentence);
  end_job(sentence);
  return code;
}

void flush_results() {
  if (std::fflush(stdout) != 0) fail("cannot write to standard output: {}", std::strerror(errno));
}

/// Returns the reason of a failure to print; fmt throws it.
std::string reason_of_system(const std::system_error& error) {
  const bool printing = std::string_view(error.what()).rfind("cannot write to file", 0) == 0;
  return printing ? fmt::format("cannot write to standard output: {}", error.code().message()) : reason_of(error);
}

int run(int argc, char** argv) {
  const auto app = make_app();
  try {
    parse_and_run(*app, std::vector<std::string>(argv + 1, argv + argc));
    flush_results();
    leave_job();
    return kOk;
  } catch (const CLI::Success& request) {
    return app->exit(request);  // --help and --version
  } catch (const CLI::ParseError& error) {
    return fail_with(kUsage, describe_parse_error(*app, error));
  } catch (const UsageError& error) {
    return fail_with(kUsage, error.what());
  } catch (const Interrupted& interrupted) {
    leave_job();
    return end(kSignalled + interrupted.signal(), interrupted.what());
  } catch (const std::system_error& error) {
    return fail_with(kFailure, reason_of_system(error));
  } catch (const std::exception& error) {
    return fail_with(kFailure, reason_of(error));
  }
}

/// Ends without the destructors of LibTorch's global objects, which take a fifth of a short command's time; runs the
/// sanitizers' own checks.
[[noreturn]] void leave(int code) {
#ifdef PROTOCOM_SANITIZED
  std::exit(code);
#else
  std::fflush(nullptr);
  std::_Exit(code);
#endif
}

}  // namespace

void run_program(int argc, char** argv) {
  keep_freed_memory();
  prepare_standard_streams();
  choose_blas_kernels();
  catch_faults();
  watch_signals();
  leave(run(argc, argv));
}

}  // namespace protocom::cli
