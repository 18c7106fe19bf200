#include "base/own_file.h"

#include <dlfcn.h>

#include <system_error>

namespace protocom {

std::filesystem::path own_file() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_file), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return std::filesystem::canonical(info.dli_fname, ignored);
}

}  // namespace protocom
