#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <protozero/pbf_writer.hpp>
#include <string>

namespace protocom::onnx {

/// The size limit of an ONNX file: a protobuf's length has 31 bits.
inline constexpr int64_t kMostBytes = (int64_t{1} << 31) - 1;

/// Tensors of fewer bytes stay in the ONNX file, as in the Python package onnx: a checker needs shapes.
inline constexpr size_t kFewestOutside = 1024;

/// Stores the numbers of an ONNX file's tensors: in it, or in one file beside it, ONNX's external data.
class TensorStore {
 public:
  /// Stores them in the ONNX file, which may have `most` bytes.
  explicit TensorStore(int64_t most = kMostBytes) : most_(most) {}
  /// Stores those of kFewestOutside bytes or more in `file`, which will be named `location` beside the ONNX file.
  /// Throws Error if it cannot be created.
  TensorStore(std::filesystem::path file, std::string location);

  /// Adds a TensorProto's numbers. Throws as check_size(), and Error.
  void write(const void* values, size_t bytes, protozero::pbf_writer& tensor);
  /// Throws Error for an ONNX file that would have too many bytes.
  void check_size(int64_t bytes);
  /// Whether check_size() has thrown.
  [[nodiscard]] bool is_exceeded() const { return exceeded_; }
  /// Finishes the file. Throws Error.
  void close();
  /// Name of the file beside the ONNX file; empty: there is none.
  [[nodiscard]] const std::string& location() const { return location_; }

 private:
  void check_written() const;
  void write_outside(const char* values, size_t bytes, protozero::pbf_writer& tensor);

  std::filesystem::path file_;
  std::string location_;
  std::ofstream out_;
  int64_t most_ = kMostBytes, inside_ = 0, outside_ = 0;
  bool exceeded_ = false;
};

}  // namespace protocom::onnx
