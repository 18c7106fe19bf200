#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/array.h"

namespace protocom {

/// The content of a safetensors file (https://github.com/huggingface/safetensors): tensors by name and its text
/// metadata.
struct Safetensors {
  std::map<std::string, Array> tensors;
  std::map<std::string, std::string> metadata;
};

/// Maps the file: the tensors alias its pages (read-only; writing to one is undefined) and keep it mapped. Throws
/// Error.
Safetensors read_safetensors(const std::filesystem::path& path);

/// Writes tensors and metadata, atomically. Throws Error.
void write_safetensors(const std::filesystem::path& path, const std::vector<std::pair<std::string, Array>>& tensors,
                       const std::map<std::string, std::string>& metadata);

/// Reads only the metadata. Throws Error.
std::map<std::string, std::string> read_safetensors_metadata(const std::filesystem::path& path);

}  // namespace protocom
