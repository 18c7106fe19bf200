#pragma once
#include <map>
#include <string>
#include <vector>

#include "io/artefact.h"
#include "io/safetensors.h"

namespace protocom::images_detail {

/// A kind of artefact that is a safetensors file, so that it can be mapped: the header and the texts are metadata.
struct MappedKind {
  const char* kind;
  const char* name;  ///< in messages, "a pack of images"
  int newest_version;
};

/// The metadata entry of a header.
std::string to_text(const ArtefactHeader& header);
/// The metadata entry of a list; file names may hold any bytes, JSON only UTF-8.
std::string to_text(const std::vector<std::string>& words);

/// Throws Error when the file is not an artefact, or is of another kind or a newer version.
ArtefactHeader header_of(const Safetensors& file, const MappedKind& kind, const std::string& where);
/// Throws Error when there is no such list.
std::vector<std::string> words_of(const Safetensors& file, const std::string& key, const std::string& where);
/// Throws Error when there is no such tensor or its type is another one.
Array array_of(const Safetensors& file, const std::string& name, NumberType type, const std::string& where);

}  // namespace protocom::images_detail
