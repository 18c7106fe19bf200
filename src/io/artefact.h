#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "io/npz.h"

namespace protocom {

/// Where an artefact comes from. Every file protocom writes carries one, and `protocom show FILE` prints it.
struct Provenance {
  std::string command;                                ///< the stage, for instance "pretrain"
  nlohmann::json options = nlohmann::json::object();  ///< every option of the stage, defaults included
  uint64_t seed = 0;                                  ///< the seed of everything random in the stage
  std::map<std::string, std::string> inputs;          ///< name of each input -> hash_file of it (or of its listing)
};

/// The head of every artefact.
struct ArtefactHeader {
  std::string kind;        ///< "features", "knowledge", "protocomnet", "backbone", "images"
  int format_version = 0;  ///< of that kind; a reader refuses those it does not know
  std::string program_version;
  Provenance provenance;
  nlohmann::json details = nlohmann::json::object();  ///< the kind's own data (sizes, architecture, figures)

  [[nodiscard]] nlohmann::json to_json() const;
  /// Throws Error that names `where` when a field is missing or of the wrong type.
  static ArtefactHeader from_json(const nlohmann::json& json, const std::string& where);
};

/// A header for a new artefact of this program version.
ArtefactHeader make_header(std::string kind, int format_version, Provenance provenance);

/// Adds the header as the member "header.json", which NumPy shows as bytes.
void add_header(NpzWriter& writer, const ArtefactHeader& header);

/// The header of an npz artefact, checked: throws Error when there is none, when the kind is another one or when its
/// version is newer than `newest_version` ("model.npz is a 'features' file, expected 'protocomnet'").
ArtefactHeader read_header(const NpzReader& reader, const std::string& kind, int newest_version);

/// The header of any artefact, npz or safetensors, whatever its kind. Throws Error when the file is not one of ours.
ArtefactHeader read_any_header(const std::filesystem::path& path);

/// The safetensors metadata key that holds the header (as JSON text).
inline constexpr const char* kSafetensorsHeaderKey = "protocom";

/// The version of this build, "0.1.0".
const char* program_version();

}  // namespace protocom
