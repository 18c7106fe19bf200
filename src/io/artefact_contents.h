#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/artefact.h"

namespace protocom {

/// A named part of an artefact.
struct ArtefactMember {
  std::string name;
  std::string type;            ///< "Float", "Long", ... of a tensor; "Text" of a list of texts; "Bytes"; or a JSON type
  std::vector<int64_t> shape;  ///< of a tensor; else its length
};

/// What a file that protocom wrote is and holds.
struct ArtefactContents {
  ArtefactHeader header;
  std::vector<ArtefactMember> members;  ///< but for the header
};

/// Looks into any artefact, npz, safetensors, or JSON (told by the suffix .json), without knowing its kind. Throws
/// Error when the file is not there or not one of ours.
ArtefactContents read_contents(const std::filesystem::path& path);

/// What making it found, in sentences (`details.findings`); empty if the header does not say.
std::vector<std::string> findings_in(const ArtefactHeader& header);

}  // namespace protocom
