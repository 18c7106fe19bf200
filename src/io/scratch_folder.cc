#include "io/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"

namespace protocom {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "protocom-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) fail("{}: {}", name, std::strerror(errno));
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace protocom
