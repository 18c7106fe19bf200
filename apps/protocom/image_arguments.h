#pragma once
#include <string>
#include <vector>

namespace protocom::cli {

/// Images as they were named on the command line, with the lines of the standard input in place of "-".
std::vector<std::string> with_listed(const std::vector<std::string>& images);

}  // namespace protocom::cli
