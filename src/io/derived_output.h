#pragma once
#include <filesystem>

namespace protocom {

/// Throws Error if `derived`, an output whose name protocom derives from another one (birds.pcm.index), is a link:
/// through a planted link any file could be replaced. Outputs named by the caller may be links.
void refuse_link(const std::filesystem::path& derived);

}  // namespace protocom
