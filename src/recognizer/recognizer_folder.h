#pragma once
#include <filesystem>

#include "io/artefact.h"
#include "store/recognizer_file.h"

namespace protocom {

/// Writes all of a recognizer into a new folder that other programs can read (docs/formats.md): recognizer.json, its
/// tensors as classes.npz and examples.npz, the artefacts as files, thumbnails as JPEG. History is left out. Throws
/// Error if the folder exists and is not empty.
void export_recognizer(const RecognizerFile& file, const std::filesystem::path& folder);

/// Creates a recognizer from such a folder. Throws Error that names the file and the fault; nothing is written then.
void import_recognizer(const std::filesystem::path& folder, const std::filesystem::path& path,
                       const Provenance& provenance);

}  // namespace protocom
