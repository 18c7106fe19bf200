#pragma once
#include <filesystem>

#include "io/artefact.h"

namespace protocom::fuzz {

/// Writes small valid inputs of every reader into `folder`/<reader>, as made by protocom itself.
void write_seeds(const std::filesystem::path& folder);
/// Writes only those that need no training or report, including those of all lower_readers().
void write_lower_seeds(const std::filesystem::path& folder);
/// Writes the others.
void write_upper_seeds(const std::filesystem::path& folder);

/// Returns the provenance of artefacts among them.
Provenance seed_provenance();
/// Writes a recognizer of one class with two photos, followed by two more changes.
void write_small_recognizer(const std::filesystem::path& path);
/// Writes an archive as a list of its small members (pack_members).
void write_as_members(const std::filesystem::path& npz, const std::filesystem::path& seed);

}  // namespace protocom::fuzz
