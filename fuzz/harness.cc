#include <ATen/Parallel.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/readers.h"

namespace {

/// Returns the reader that this executable is built for.
const protocom::fuzz::Reader& reader() {
  const auto& all = protocom::fuzz::PROTOCOM_FUZZ_READERS();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const auto& one) { return one.name == PROTOCOM_FUZZ_READER; });
  if (found == all.end()) std::abort();
  return *found;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  at::set_num_threads(1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const protocom::fuzz::Reader& own = reader();
  protocom::fuzz::read_input(own, {reinterpret_cast<const char*>(data), size});
  return 0;
}
