#include "base/error.h"
#include "io/mat_file.h"

// Replaces mat_file.cc in a build without matio (PROTOCOM_MATIO=OFF).
namespace protocom {

struct MatFile::Impl {};

MatFile::MatFile(const std::filesystem::path& path) {
  fail(
      "{} is a MATLAB file, which is not supported by this build of protocom (it is without matio): save its contents "
      "as npz, for instance by scipy.io.loadmat and numpy.savez",
      path.string());
}

MatFile::~MatFile() = default;

bool MatFile::has(const std::string& /*name*/) const { return false; }

Array MatFile::matrix(const std::string& /*name*/) const { return {}; }

std::vector<std::string> MatFile::texts(const std::string& /*name*/) const { return {}; }

}  // namespace protocom
