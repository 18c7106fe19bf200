#include "io/artefact.h"

#include "base/error.h"
#include "base/json_text.h"
#include "io/file_kinds.h"
#include "io/files.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace protocom {
namespace {

using nlohmann::json;

constexpr const char* kHeaderMember = "header.json";

/// Returns the text of the header; empty if there is none.
std::string header_text(const std::filesystem::path& path) {
  if (begins_as_zip(MappedFile(path).bytes())) {
    const NpzReader reader(path);
    return reader.has(kHeaderMember) ? reader.bytes(kHeaderMember) : "";
  }
  const auto metadata = read_safetensors_metadata(path);
  const auto found = metadata.find(kSafetensorsHeaderKey);
  return found == metadata.end() ? "" : found->second;
}

ArtefactHeader parse(const std::string& text, const std::string& where) {
  return ArtefactHeader::from_json(parse_json(text, where + ": the header"), where);
}

}  // namespace

json ArtefactHeader::to_json() const {
  return {{"kind", kind},
          {"format_version", format_version},
          {"program_version", program_version},
          {"command", provenance.command},
          {"options", provenance.options},
          {"seed", provenance.seed},
          {"inputs", provenance.inputs},
          {"details", details.is_null() ? json::object() : details}};
}

ArtefactHeader ArtefactHeader::from_json(const json& json_header, const std::string& where) {
  ArtefactHeader header;
  try {
    json_header.at("kind").get_to(header.kind);
    header.format_version = whole_number<int>(json_header.at("format_version"));
    json_header.at("program_version").get_to(header.program_version);
    json_header.at("command").get_to(header.provenance.command);
    header.provenance.options = json_header.at("options");
    header.provenance.seed = whole_number<uint64_t>(json_header.at("seed"));
    json_header.at("inputs").get_to(header.provenance.inputs);
    header.details = json_header.at("details");
  } catch (const json::exception& error) {
    fail("{}: the header is damaged: {}", where, reason_of(error));
  }
  if (!header.provenance.options.is_object()) fail("{}: the header is damaged: 'options' is not an object", where);
  if (!header.details.is_object()) fail("{}: the header is damaged: 'details' is not an object", where);
  return header;
}

ArtefactHeader make_header(std::string kind, int format_version, Provenance provenance) {
  ArtefactHeader header;
  header.kind = std::move(kind);
  header.format_version = format_version;
  header.program_version = program_version();
  header.provenance = std::move(provenance);
  return header;
}

void add_header(NpzWriter& writer, const ArtefactHeader& header) {
  writer.add_bytes(kHeaderMember, json_text(header.to_json(), 2));
}

ArtefactHeader read_header(const NpzReader& reader, const std::string& kind, int newest_version) {
  const std::string where = reader.path().string();
  if (!reader.has(kHeaderMember)) fail("{} is not a protocom file (no {}), expected '{}'", where, kHeaderMember, kind);
  ArtefactHeader header = parse(reader.bytes(kHeaderMember), where);
  if (header.kind != kind) fail("{} is a '{}' file, expected '{}'", where, excerpt(header.kind), kind);
  if (header.format_version < 1 || header.format_version > newest_version) {
    fail("{} has {} format {}, this protocom {} reads up to {}: use a newer protocom", where, kind,
         header.format_version, program_version(), newest_version);
  }
  return header;
}

ArtefactHeader read_any_header(const std::filesystem::path& path) {
  const std::string text = header_text(path);
  if (text.empty()) fail("{} has no protocom header", path.string());
  return parse(text, path.string());
}

const char* program_version() { return PROTOCOM_VERSION; }

}  // namespace protocom
