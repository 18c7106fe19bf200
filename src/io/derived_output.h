#pragma once
#include <filesystem>

namespace protocom {

/// Throws Error if `derived`, an output whose name protocom derives from another one (birds.pcm.index), is a link: a
/// planted link would replace any file. Outputs that the caller names may be links.
void refuse_link(const std::filesystem::path& derived);

}  // namespace protocom
