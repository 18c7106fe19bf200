#pragma once
#include <string>
#include <string_view>

namespace protocom {

/// Compresses bytes as a gzip file, at zlib's highest level. Throws Error if memory is insufficient.
std::string gzipped(std::string_view bytes);

}  // namespace protocom
