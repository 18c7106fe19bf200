// Makes threads of OpenMP sleep while they wait for each other: spinning ones keep others from running where several
// tests run at once, and a suite takes ten times as long. libgomp reads the variable when it is loaded, before main; so
// a test restarts with it, before any library has started. (For the program see apps/protocom/launcher.)
#if defined(__linux__)
#include <limits.h>
#include <unistd.h>

#include <cstddef>

namespace {

constexpr const char* kPassive = "OMP_WAIT_POLICY=passive";
constexpr size_t kMostVariables = 4096;

#define PROTOCOM_BEFORE_SANITIZERS __attribute__((no_sanitize("address", "undefined", "thread")))

PROTOCOM_BEFORE_SANITIZERS bool begins_with(const char* text, const char* begin) {
  while (*begin != '\0' && *text == *begin) {
    ++text;
    ++begin;
  }
  return *begin == '\0';
}

/// Called before the constructors of libraries: uses only system calls, no memory. If anything fails, it continues
/// unchanged.
PROTOCOM_BEFORE_SANITIZERS void begin_with_passive_threads(int /*argc*/, char** argv, char** environment) {
  static const char* extended[kMostVariables + 2];
  static char program[PATH_MAX];
  size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count == kMostVariables || begins_with(environment[count], "OMP_WAIT_POLICY=") ||
        begins_with(environment[count], "GOMP_SPINCOUNT="))
      return;
    extended[count] = environment[count];
  }
  extended[count] = kPassive;
  const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return;
  program[length] = '\0';
  ::execve(program, argv, const_cast<char* const*>(extended));
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kBeforeLibraries)(int, char**,
                                                                             char**) = begin_with_passive_threads;

}  // namespace
#endif
