// How long threads of OpenMP spin for one another at the end of a parallel loop before they sleep. libgomp has them
// spin for milliseconds: where other programs use the same cores, a thread that spins keeps the one it waits for from
// running, and an encoder of many small loops takes ten times as long. With 3,000 turns they wait long enough for each
// other where nobody else is there, and not too long where somebody is (docs/log/speed.md). libgomp reads the variable
// when it is loaded, before main; so the program begins anew with it, before any library has begun.
#if defined(__linux__)
#include <limits.h>
#include <unistd.h>

#include <cstddef>

namespace {

constexpr const char* kSpins = "GOMP_SPINCOUNT=3000";
constexpr size_t kMostVariables = 4096;

#define PROTOCOM_BEFORE_SANITIZERS __attribute__((no_sanitize("address", "undefined", "thread")))

PROTOCOM_BEFORE_SANITIZERS bool begins_with(const char* text, const char* begin) {
  while (*begin != '\0' && *text == *begin) {
    ++text;
    ++begin;
  }
  return *begin == '\0';
}

/// Called before the constructors of libraries: nothing but system calls, no memory. Where anything fails, it goes on
/// as it is.
PROTOCOM_BEFORE_SANITIZERS void begin_with_few_spins(int /*argc*/, char** argv, char** environment) {
  static const char* extended[kMostVariables + 2];
  static char program[PATH_MAX];
  size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count == kMostVariables || begins_with(environment[count], "OMP_WAIT_POLICY=") ||
        begins_with(environment[count], "GOMP_SPINCOUNT="))
      return;
    extended[count] = environment[count];
  }
  extended[count] = kSpins;
  const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return;
  program[length] = '\0';
  ::execve(program, argv, const_cast<char* const*>(extended));
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeLibraries)(int, char**,
                                                                             char**) = begin_with_few_spins;

}  // namespace
#endif
