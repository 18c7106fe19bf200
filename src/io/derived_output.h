#pragma once
#include <filesystem>

namespace protocom {

/// For an output whose name protocom derives from another (birds.pcm.index): throws Error where it is a link. Whoever
/// put the link there would choose which file is replaced; an output that the caller names may be one.
void refuse_link(const std::filesystem::path& derived);

}  // namespace protocom
