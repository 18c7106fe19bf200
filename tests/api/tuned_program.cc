// A host that tunes itself: prints the environment that it was started with.
#include <cstdio>
#include <cstdlib>

#include "protocom/process.h"

int main(int argc, char** argv) {
  const bool all_done = protocom::tune_process();
  const char* spins = std::getenv("GOMP_SPINCOUNT");
  std::printf("tuned %d, spins %s, %d arguments, last '%s'\n", all_done ? 1 : 0, spins == nullptr ? "unset" : spins,
              argc, argv[argc - 1]);
  return 0;
}
