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

/// Returns the file with its external tensors inside, and with only that output (empty: all). Nothing if the file is
/// already so. Throws Error.
std::optional<std::string> self_contained(const std::filesystem::path& path, const std::string& output);

/// Contents of files by name.
using NamedFiles = std::vector<std::pair<std::string, std::string_view>>;

/// An ONNX file of any size for a program that parses at most kMostBytes: the part to parse, and files in memory with
/// the numbers of large tensors.
class ModelParts {
 public:
  /// Keeps only that output (empty: all). A model of at most `most` bytes has all its tensors inside. Throws Error,
  /// also if it has more bytes without its large tensors, or a tensor of more than `most_of_one` bytes: ONNX Runtime
  /// puts each tensor of files in memory into a protobuf.
  ModelParts(const std::filesystem::path& path, const std::string& output, int64_t most = kMostBytes,
             int64_t most_of_one = kMostBytes);

  /// The ONNX file to parse.
  [[nodiscard]] std::string_view graph() const { return written_ ? std::string_view(*written_) : file_.bytes(); }
  /// The files with external data of graph(), under the names used there. Views of this object.
  [[nodiscard]] const NamedFiles& files() const { return files_; }
  /// Size of the model with all its tensors.
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  MappedFile file_;
  TensorFiles beside_;
  int64_t bytes_ = 0;
  std::optional<std::string> written_;
  NamedFiles files_;
};

}  // namespace protocom::onnx
