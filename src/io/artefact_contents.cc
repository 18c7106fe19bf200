#include "io/artefact_contents.h"

#include <optional>

#include "base/error.h"
#include "io/files.h"
#include "io/json.h"
#include "io/npz.h"
#include "io/safetensors.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

ArtefactMember describe(const std::string& name, const Array& array) {
  return {name, std::string(to_string(array.type())), array.shape()};
}

ArtefactMember describe(const NpzReader& reader, const std::string& name) {
  try {
    return describe(name, reader.array(name));
  } catch (const Error&) {
  }
  try {
    return {name, "Text", {static_cast<int64_t>(reader.strings(name).size())}};
  } catch (const Error&) {
    return {name, "Bytes", {static_cast<int64_t>(reader.bytes(name).size())}};
  }
}

std::vector<ArtefactMember> members_of(const fs::path& path) {
  std::vector<ArtefactMember> members;
  std::optional<Safetensors> safetensors;
  try {
    safetensors = read_safetensors(path);
  } catch (const Error&) {
  }
  if (safetensors) {
    for (const auto& [name, tensor] : safetensors->tensors) members.push_back(describe(name, tensor));
    return members;
  }
  const NpzReader reader(path);
  for (const std::string& name : reader.names()) {
    if (name != "header.json") members.push_back(describe(reader, name));
  }
  return members;
}

/// Returns a JSON artefact's own keys; nothing if the file has no JSON object.
std::optional<ArtefactContents> contents_of_json(const fs::path& path) {
  const std::string text = read_file(path);
  if (text.empty() || text.front() != '{') return std::nullopt;
  const json document = parse_json(text, path.string());
  if (!document.contains("header")) fail("{} has no protocom header", path.string());
  ArtefactContents contents{ArtefactHeader::from_json(document["header"], path.string()), {}};
  for (const auto& [name, value] : document.items()) {
    if (name != "header") contents.members.push_back({name, value.type_name(), {static_cast<int64_t>(value.size())}});
  }
  return contents;
}

}  // namespace

ArtefactContents read_contents(const fs::path& path) {
  if (!fs::exists(path)) fail("{}: no such file", path.string());
  if (path.extension() == ".json") {
    if (auto contents = contents_of_json(path)) return *std::move(contents);
  }
  return {read_any_header(path), members_of(path)};
}

std::vector<std::string> findings_in(const ArtefactHeader& header) {
  std::vector<std::string> found;
  if (!header.details.is_object()) return found;
  const auto findings = header.details.find("findings");
  if (findings == header.details.end() || !findings->is_array()) return found;
  for (const nlohmann::json& finding : *findings) {
    if (finding.is_string()) found.push_back(finding.get<std::string>());
  }
  return found;
}

}  // namespace protocom
