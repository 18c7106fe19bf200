#pragma once
#include <filesystem>

#include "io/artefact.h"

namespace protocom::fuzz {

/// Writes small valid inputs of every reader into `folder`/<reader>, as protocom itself makes them.
void write_seeds(const std::filesystem::path& folder);
/// Only those for which no training or report is needed, those of all lower_readers() among them.
void write_lower_seeds(const std::filesystem::path& folder);
/// The others.
void write_upper_seeds(const std::filesystem::path& folder);

/// What artefacts among them say of where they come from.
Provenance seed_provenance();
/// A recognizer of one class with two photos, after two more changes.
void write_small_recognizer(const std::filesystem::path& path);
/// An archive as a list of its small members (pack_members).
void write_as_members(const std::filesystem::path& npz, const std::filesystem::path& seed);

}  // namespace protocom::fuzz
