// The program that is started as `protocom`. LibTorch registers 2,000 operators when it is loaded, which takes a third
// of a second; so the launcher, which is linked without it, answers --version and --help itself, and executes the
// program for everything else. It also sets what libraries read when they are loaded.
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "pages.h"
#include "watched_signals.h"

namespace protocom::launcher {
namespace {

constexpr int kFailed = 1;

/// Sets how long OpenMP's threads spin for one another at the end of a parallel loop before they sleep. By default
/// libgomp's spin for milliseconds: if other programs use the same cores, a spinning thread keeps the one it waits for
/// from running, and an encoder of many small loops takes ten times as long. 3,000 turns are long enough on an idle
/// machine, and not too long on a busy one (docs/log/speed.md).
void choose_spins() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", "3000", 0);
}

/// Returns the text that answers the command line regardless of other arguments; null: the program has to decide.
const char* page_for(int argc, char** argv) {
  if (argc < 2) return nullptr;
  const std::string_view last = argv[argc - 1];
  if (last == "--version") return argc == 2 ? kVersion : nullptr;
  if (last != "--help" && last != "-h") return nullptr;
  std::string command;
  for (int i = 1; i < argc - 1; ++i) command += (i > 1 ? " " : "") + std::string(argv[i]);
  for (size_t i = 0; i < kPageCount; ++i) {
    if (command == kPages[i].command) return kPages[i].text;
  }
  return nullptr;
}

/// Returns false if nothing could be written. A reader that closed the pipe is not a failure.
bool print(std::string_view text) {
  std::signal(SIGPIPE, SIG_IGN);
  bool printed = false;
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return printed || errno == EPIPE;
    printed = true;
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

/// Blocks the signals that one thread of the program waits for, so that no other thread takes them (watch_signals).
/// OpenBLAS with POSIX threads starts some when it is loaded, before the program's first line; they inherit this mask.
void leave_signals_to_the_program() {
  const sigset_t set = cli::watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

/// Returns the program's path, relative to this executable in the build tree or where installed.
std::string program_path() {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0) return PROTOCOM_INSTALLED_PROGRAM;
  const std::string path(self, static_cast<size_t>(length));
  return path.substr(0, path.rfind('/') + 1) + PROTOCOM_PROGRAM_FROM_HERE;
}

}  // namespace
}  // namespace protocom::launcher

int main(int argc, char** argv) {
  using namespace protocom::launcher;
  const char* page = page_for(argc, argv);
  if (page != nullptr && print(page)) return 0;
  choose_spins();
  leave_signals_to_the_program();
  const std::string program = program_path();
  ::execv(program.c_str(), argv);
  std::fprintf(stderr, "protocom: cannot start %s: %s; both files belong together, install or copy both\n",
               program.c_str(), std::strerror(errno));
  return kFailed;
}
