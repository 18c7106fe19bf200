#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "io/npz.h"

namespace protocom {

/// The origin of an artefact. Every file written by protocom contains it, and `protocom show FILE` prints it.
struct Provenance {
  std::string command;                                ///< the stage, for instance "pretrain"
  nlohmann::json options = nlohmann::json::object();  ///< every option of the stage, including defaults
  uint64_t seed = 0;                                  ///< the seed of everything random in the stage
  std::map<std::string, std::string> inputs;          ///< name of each input -> hash_file of it (or of its listing)
};

/// The header of every artefact.
struct ArtefactHeader {
  std::string kind;        ///< "features", "knowledge", "protocomnet", "backbone", "images"
  int format_version = 0;  ///< of that kind; readers refuse unknown ones
  std::string program_version;
  Provenance provenance;
  nlohmann::json details = nlohmann::json::object();  ///< the kind's own data (sizes, architecture, figures)

  [[nodiscard]] nlohmann::json to_json() const;
  /// Reads a header. Throws Error that names `where` if a field is missing or of the wrong type.
  static ArtefactHeader from_json(const nlohmann::json& json, const std::string& where);
};

/// Returns a header for a new artefact of this program version.
ArtefactHeader make_header(std::string kind, int format_version, Provenance provenance);

/// Adds the header as the member "header.json", which NumPy shows as bytes.
void add_header(NpzWriter& writer, const ArtefactHeader& header);

/// Returns the header of an npz artefact. Throws Error if there is none, if its kind differs or if its version is newer
/// than `newest_version` ("model.npz is a 'features' file, expected 'protocomnet'").
ArtefactHeader read_header(const NpzReader& reader, const std::string& kind, int newest_version);

/// Returns the header of an artefact of any kind, npz or safetensors. Throws Error if the file is not one of ours.
ArtefactHeader read_any_header(const std::filesystem::path& path);

/// The safetensors metadata key of the header (as JSON text).
inline constexpr const char* kSafetensorsHeaderKey = "protocom";

/// Returns the version of this build, "0.1.0".
const char* program_version();

}  // namespace protocom
