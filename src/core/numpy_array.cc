#include "protocom/core/numpy_array.h"

#include "npy.h"
#include "protocom/core/error.h"
#include "protocom/core/files.h"

namespace protocom {
namespace {

NumpyArray array_of(const std::string& content, const std::string& where) {
  const npy::View view = npy::parse(content, where);
  if (npy::is_text(view)) return npy::to_strings(view, where);
  return npy::to_tensor(view, where);
}

}  // namespace

NumpyArray array_in(const NpzReader& reader, const std::string& name) {
  return array_of(reader.bytes(name), reader.path().string() + ": member '" + excerpt(name) + "'");
}

NumpyArray read_npy_array(const std::filesystem::path& path) {
  return reading(path, [&] { return array_of(read_file(path), path.string()); });
}

}  // namespace protocom
