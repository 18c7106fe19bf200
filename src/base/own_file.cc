#include "base/own_file.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <system_error>

namespace protocom {

namespace {

/// Whether it is the main program, which the loader lists under the name it was started with: "protocom", which in the
/// current folder may be a file of another user, with libraries beside it.
bool is_program(const link_map* loaded) {
  return loaded == nullptr || loaded->l_name == nullptr || *loaded->l_name == '\0';
}

std::optional<uid_t> owner_of(const std::filesystem::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return facts.st_uid;
}

/// Whether a file's owner could also replace protocom itself.
bool is_trusted_owner(std::optional<uid_t> owner) {
  constexpr uid_t kSystem = 0;
  const std::filesystem::path own = own_file();
  return owner &&
         (*owner == kSystem || *owner == ::geteuid() || owner == owner_of(own) || owner == owner_of(own.parent_path()));
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

std::filesystem::path trusted_library(const std::filesystem::path& library) {
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::canonical(library, failed);
  const bool is_trusted = !failed && is_trusted_owner(owner_of(file)) && is_trusted_owner(owner_of(file.parent_path()));
  return is_trusted ? file : std::filesystem::path();
}

}  // namespace protocom
