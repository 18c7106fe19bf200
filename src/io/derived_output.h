#pragma once
#include <filesystem>

namespace protocom {

/// Throws Error where an output is a link whose name protocom derives from another one (birds.pcm.index): whoever
/// planted the link would choose which file is replaced. Outputs that the caller names may be links.
void refuse_link(const std::filesystem::path& derived);

}  // namespace protocom
