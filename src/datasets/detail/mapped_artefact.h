#pragma once
#include <map>
#include <string>
#include <vector>

#include "io/artefact.h"
#include "io/safetensors.h"

namespace protocom::images_detail {

/// A kind of artefact stored as a safetensors file, so that it can be mapped: the header and the texts are metadata.
struct MappedKind {
  const char* kind;
  const char* name;  ///< in messages, "a pack of images"
  int newest_version;
};

/// Returns the metadata entry of a header.
std::string to_text(const ArtefactHeader& header);
/// Returns the metadata entry of a list; file names may contain any bytes, JSON only UTF-8.
std::string to_text(const std::vector<std::string>& words);

/// Reads the header. Throws Error if the file is not an artefact, or is of another kind or a newer version.
ArtefactHeader header_of(const Safetensors& file, const MappedKind& kind, const std::string& where);
/// Reads a list. Throws Error if there is none of that name.
std::vector<std::string> words_of(const Safetensors& file, const std::string& key, const std::string& where);
/// Reads a tensor. Throws Error if there is none of that name or its type differs.
Array array_of(const Safetensors& file, const std::string& name, NumberType type, const std::string& where);

}  // namespace protocom::images_detail
