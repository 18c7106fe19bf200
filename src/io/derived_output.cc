#include "io/derived_output.h"

#include <system_error>

#include "base/error.h"

namespace protocom {

void refuse_link(const std::filesystem::path& derived) {
  std::error_code error;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(derived, error)))
    fail("cannot write {}: it is a link, and protocom writes a file of that name by itself; remove the link",
         derived.string());
}

}  // namespace protocom
