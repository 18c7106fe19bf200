#include "io/write_together.h"

#include <deque>

#include "io/detail/pending_file.h"

namespace protocom {

using Paths = std::vector<std::filesystem::path>;

void write_together(const Paths& paths, const std::function<void(const Paths&)>& write,
                    const std::function<void()>& before) {
  std::deque<PendingFile> pending;
  Paths temporaries;
  for (const std::filesystem::path& path : paths) temporaries.push_back(pending.emplace_back(path).temporary());
  write(temporaries);
  for (PendingFile& file : pending) file.finish();
  if (before) before();
  for (; !pending.empty(); pending.pop_back()) pending.back().put();
}

}  // namespace protocom
