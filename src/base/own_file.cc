#include "base/own_file.h"

#include <dlfcn.h>
#include <link.h>

#include <system_error>

namespace protocom {

namespace {

/// The loader calls the program what it was started as: "protocom", which in the current folder may be a file of
/// somebody else, with libraries beside it.
bool is_program(const link_map* loaded) {
  return loaded == nullptr || loaded->l_name == nullptr || *loaded->l_name == '\0';
}

}  // namespace

std::filesystem::path own_file() {
  Dl_info info{};
  void* loaded = nullptr;
  const int known = ::dladdr1(reinterpret_cast<const void*>(&own_file), &info, &loaded, RTLD_DL_LINKMAP);
  if (known == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return std::filesystem::canonical(
      is_program(static_cast<const link_map*>(loaded)) ? "/proc/self/exe" : info.dli_fname, ignored);
}

}  // namespace protocom
