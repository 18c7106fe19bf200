#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <system_error>

#include "cli.h"
#include "faults.h"
#include "interrupt.h"
#include "job.h"
#include "memory.h"
#include "standard_streams.h"
#include "protocom/core/blas_kernels.h"
#include "terminal_progress.h"

namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kSignalled = 128;  // plus the signal, as shells say it

int end(int code, const std::string& sentence) {
  protocom::cli::terminal_progress().clear();
  protocom::cli::say(fmt::format("protocom: {}\n", protocom::one_line(sentence)));
  return code;
}

int fail_with(int code, const std::string& sentence) {
  end(code, sentence);
  protocom::cli::end_job(sentence);
  return code;
}

void flush_results() {
  if (std::fflush(stdout) != 0) protocom::fail("cannot write to standard output: {}", std::strerror(errno));
}

/// fmt's message when printing failed.
std::string reason_of_system(const std::system_error& error) {
  const bool printing = std::string_view(error.what()).rfind("cannot write to file", 0) == 0;
  return printing ? fmt::format("cannot write to standard output: {}", error.code().message())
                  : protocom::reason_of(error);
}

int run(int argc, char** argv) {
  const auto app = protocom::cli::make_app();
  try {
    protocom::cli::parse_and_run(*app, std::vector<std::string>(argv + 1, argv + argc));
    flush_results();
    protocom::cli::leave_job();
    return kOk;
  } catch (const CLI::Success& request) {
    return app->exit(request);  // --help and --version
  } catch (const CLI::ParseError& error) {
    return fail_with(kUsage, protocom::cli::describe_parse_error(*app, error));
  } catch (const protocom::UsageError& error) {
    return fail_with(kUsage, error.what());
  } catch (const protocom::Interrupted& interrupted) {
    protocom::cli::leave_job();
    return end(kSignalled + interrupted.signal(), interrupted.what());
  } catch (const std::system_error& error) {
    return fail_with(kFailed, reason_of_system(error));
  } catch (const std::exception& error) {
    return fail_with(kFailed, protocom::reason_of(error));
  }
}

/// Ends without the destructors of LibTorch's global objects, which take a fifth of a short command's time; the
/// sanitizers' own work at the end is done.
[[noreturn]] void leave(int code) {
#ifdef PROTOCOM_SANITIZED
  std::exit(code);
#else
  std::fflush(nullptr);
  std::_Exit(code);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  protocom::cli::keep_freed_memory();
  protocom::cli::prepare_standard_streams();
  protocom::choose_blas_kernels();
  protocom::cli::catch_faults();
  protocom::cli::watch_signals();
  leave(run(argc, argv));
}
