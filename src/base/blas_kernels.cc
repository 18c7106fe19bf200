#include "base/blas_kernels.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace protocom {
namespace {

/// Returns the newest kernels that run on this processor; null if they would gain nothing.
const char* kernels_for_this_processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0)
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return "Haswell";
#endif
  return nullptr;
}

template <typename Function>
Function* blas_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace

void choose_blas_kernels() {
  auto* core_name = blas_function<char*()>("openblas_get_corename");
  auto* leave = blas_function<void()>("gotoblas_dynamic_quit");
  auto* choose = blas_function<void()>("gotoblas_dynamic_init");
  const char* kernels = kernels_for_this_processor();
  if (core_name == nullptr || leave == nullptr || choose == nullptr || kernels == nullptr) return;
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr || std::string_view(core_name()) != "Prescott") return;
  ::setenv("OPENBLAS_CORETYPE", kernels, 0);
  leave();
  choose();
}

}  // namespace protocom
