#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoders/onnx_tensor_files.h"
#include "encoders/onnx_tensor_store.h"
#include "io/files.h"

namespace protocom::onnx {

/// The file with the tensors inside that lie outside it, and with no output but that one (empty: as it has them). None
/// where the file is so already. Throws Error.
std::optional<std::string> self_contained(const std::filesystem::path& path, const std::string& output);

/// Bytes of files by their names.
using NamedFiles = std::vector<std::pair<std::string, std::string_view>>;

/// An ONNX file of any size for a program that parses at most kMostBytes: what it parses, and files in memory that hold
/// the numbers of large tensors.
class ModelParts {
 public:
  /// With no output but that one (empty: as it has them). A model of at most `most` bytes has all its tensors inside.
  /// Throws Error, also if it has more bytes without its large tensors.
  ModelParts(const std::filesystem::path& path, const std::string& output, int64_t most = kMostBytes);

  /// The ONNX file to parse.
  [[nodiscard]] std::string_view graph() const { return written_ ? std::string_view(*written_) : file_.bytes(); }
  /// The files in which graph() has external data, as it calls them. Views of this object.
  [[nodiscard]] const NamedFiles& files() const { return files_; }
  /// Of the model with all its tensors.
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  MappedFile file_;
  TensorFiles beside_;
  int64_t bytes_ = 0;
  std::optional<std::string> written_;
  NamedFiles files_;
};

}  // namespace protocom::onnx
