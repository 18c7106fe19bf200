#pragma once
#include <filesystem>

namespace protocom::fuzz {

/// Writes small valid inputs of every reader into `folder`/<reader>, as protocom itself makes them.
void write_seeds(const std::filesystem::path& folder);

}  // namespace protocom::fuzz
