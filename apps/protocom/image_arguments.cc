#include "image_arguments.h"

#include <iostream>

#include "protocom/core/error.h"
#include "protocom/core/log.h"

namespace protocom::cli {

std::vector<std::string> with_listed(const std::vector<std::string>& images) {
  std::vector<std::string> all;
  for (const std::string& one : images) {
    if (one != "-") {
      all.push_back(one);
      continue;
    }
    for (std::string line; std::getline(std::cin, line);) {
      if (!line.empty()) all.push_back(line);
    }
  }
  return all;
}

void account_for(const FoundImages& found, const std::vector<UnreadableFile>& unreadable) {
  for (const auto* some : {&found.unreadable, &unreadable}) {
    for (const UnreadableFile& one : *some) logger().error("{}", one.reason);
  }
  if (found.skipped.total() > 0) logger().warn("{}", found.skipped.describe());
  const size_t lost = found.unreadable.size() + unreadable.size();
  if (lost > 0) fail("{} of {} images could not be read", lost, found.unreadable.size() + found.paths.size());
}

}  // namespace protocom::cli
