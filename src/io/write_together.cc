#include "io/write_together.h"

#include "io/files.h"

namespace protocom {
namespace {

using Paths = std::vector<std::filesystem::path>;

void write_rest(const Paths& paths, const Paths& begun, const std::function<void(const Paths&)>& write) {
  if (begun.size() == paths.size()) return write(begun);
  write_file_with(paths[begun.size()], [&](const std::filesystem::path& temporary) {
    Paths more = begun;
    more.push_back(temporary);
    write_rest(paths, more, write);
  });
}

}  // namespace

void write_together(const Paths& paths, const std::function<void(const Paths&)>& write) {
  write_rest(paths, {}, write);
}

}  // namespace protocom
