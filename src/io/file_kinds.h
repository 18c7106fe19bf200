#pragma once
#include <string_view>

namespace protocom {

/// Whether bytes begin as a safetensors file: a length of eight bytes below 4 GB, then JSON. The length may be any
/// number, such as one that reads "PK" (19,280), so check this before any magic number of two or four bytes.
inline bool begins_as_safetensors(std::string_view bytes) {
  return bytes.size() > 9 && bytes[8] == '{' && bytes.substr(4, 4) == std::string_view("\0\0\0\0", 4);
}

/// Whether bytes begin as a zip archive, which npz and TorchScript files are.
inline bool begins_as_zip(std::string_view bytes) {
  return bytes.substr(0, 2) == "PK" && !begins_as_safetensors(bytes);
}

}  // namespace protocom
