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

/// The kind and contents of a file written by protocom.
struct ArtefactContents {
  ArtefactHeader header;
  std::vector<ArtefactMember> members;  ///< without the header
};

/// Reads the contents of any artefact, npz, safetensors, or JSON (recognised by the suffix .json), without knowing its
/// kind. Throws Error if the file does not exist or is not one of ours.
ArtefactContents read_contents(const std::filesystem::path& path);

/// Returns the findings from making it, in sentences (`details.findings`); empty if the header states none.
std::vector<std::string> findings_in(const ArtefactHeader& header);

}  // namespace protocom
