#include "datasets/detail/mapped_artefact.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "io/json.h"

namespace protocom::images_detail {

using nlohmann::json;

std::string to_text(const ArtefactHeader& header) { return json_text(header.to_json()); }

std::string to_text(const std::vector<std::string>& words) { return json_text(json(words)); }

ArtefactHeader header_of(const Safetensors& file, const MappedKind& kind, const std::string& where) {
  const auto found = file.metadata.find(kSafetensorsHeaderKey);
  if (found == file.metadata.end()) fail("{} is not {}: it has no protocom header", where, kind.name);
  ArtefactHeader header = ArtefactHeader::from_json(parse_json(found->second, where + ": the header"), where);
  if (header.kind != kind.kind)
    fail("{} is a '{}' file, expected {} ('{}')", where, excerpt(header.kind), kind.name, kind.kind);
  if (header.format_version < 1 || header.format_version > kind.newest_version) {
    fail("{} has {} format {}, this protocom {} reads up to {}: use a newer protocom", where, kind.kind,
         header.format_version, program_version(), kind.newest_version);
  }
  return header;
}

std::vector<std::string> words_of(const Safetensors& file, const std::string& key, const std::string& where) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) fail("{}: missing metadata '{}'", where, key);
  try {
    return parse_json(found->second, fmt::format("{}: the metadata '{}'", where, key)).get<std::vector<std::string>>();
  } catch (const json::exception& error) {
    fail("{}: the metadata '{}' is damaged: {}", where, key, reason_of(error));
  }
}

Array array_of(const Safetensors& file, const std::string& name, NumberType type, const std::string& where) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) fail("{}: missing tensor '{}'", where, name);
  if (found->second.type() != type)
    fail("{}: '{}' is {}, expected {}", where, name, to_string(found->second.type()), to_string(type));
  return found->second;
}

}  // namespace protocom::images_detail
