#pragma once
#include <string>
#include <string_view>

namespace protocom {

/// The bytes as a gzip file, compressed as much as zlib can. Throws Error when memory is short.
std::string gzipped(std::string_view bytes);

}  // namespace protocom
