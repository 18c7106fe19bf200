#include "image_arguments.h"

#include <iostream>

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

}  // namespace protocom::cli
