#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "cli.h"
#include "interrupt.h"
#include "terminal_progress.h"

namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kSignalled = 128;  // plus the signal, as shells say it

int say(int code, const std::string& sentence) {
  protocom::cli::terminal_progress().clear();
  fmt::print(stderr, "protocom: {}\n", sentence);
  return code;
}

// A reader that closes the pipe early (`| head`) has what it wanted; anything else that keeps results from stdout is a
// failure.
void flush_results() {
  if (std::fflush(stdout) != 0 && errno != EPIPE)
    protocom::fail("cannot write to standard output: {}", std::strerror(errno));
}

int run(int argc, char** argv) {
  const auto app = protocom::cli::make_app();
  try {
    protocom::cli::parse_and_run(*app, std::vector<std::string>(argv + 1, argv + argc));
    flush_results();
    return kOk;
  } catch (const CLI::Success& request) {
    return app->exit(request);  // --help and --version
  } catch (const CLI::ParseError& error) {
    return say(kUsage, protocom::cli::describe_parse_error(*app, error));
  } catch (const protocom::UsageError& error) {
    return say(kUsage, error.what());
  } catch (const protocom::Interrupted& interrupted) {
    return say(kSignalled + interrupted.signal(), interrupted.what());
  } catch (const std::exception& error) {
    return say(kFailed, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  protocom::cli::watch_signals();
  return run(argc, argv);
}
