#include "io/derived_output.h"

#include <system_error>

#include "base/error.h"

namespace protocom {

void refuse_link(const std::filesystem::path& derived) {
  std::error_code error;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(derived, error)))
    fail("cannot write {}: it is a symbolic link; remove it, protocom creates the file itself", derived.string());
}

}  // namespace protocom
