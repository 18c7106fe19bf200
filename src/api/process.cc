#include "protocom/process.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "api/detail/boundary.h"
#include "base/error.h"
#include "base/threads.h"

namespace protocom::v0 {
namespace {

/// Number of times that a waiting thread of OpenMP spins before it sleeps; the same as the program's
/// (apps/protocom/launcher).
constexpr const char* kSpins = "3000";

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

/// Executes the program again, with the same path and arguments. Returns if that is not possible.
void begin_anew() {
#ifdef __linux__
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.empty()) return;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
#endif
}

/// By default glibc returns large freed blocks to the system, and each forward pass has its pages mapped and cleared
/// again (apps/protocom/entry.cc).
void keep_freed_memory() {
#ifdef __GLIBC__
  if (is_set("MALLOC_MMAP_MAX_") || is_set("MALLOC_TRIM_THRESHOLD_")) return;
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace

bool tune_process(Restart restart) {
  return guarded([&] {
    bool spins = is_set("OMP_WAIT_POLICY") || is_set("GOMP_SPINCOUNT");
    if (!spins && restart == Restart::kIfNeeded && ::setenv("GOMP_SPINCOUNT", kSpins, 0) == 0) {
      begin_anew();
      ::unsetenv("GOMP_SPINCOUNT");  // already read; children should not inherit it
    }
    keep_freed_memory();
    if (!is_set("OMP_NUM_THREADS")) protocom::set_threads(0);
    return spins;
  });
}

int threads() { return protocom::thread_count(); }

void set_threads(int count) {
  guarded([&] {
    if (count < 0) fail_usage("threads: expected at least 1, or 0 for all cores; found {}", count);
    protocom::set_threads(count);
  });
}

}  // namespace protocom::v0
