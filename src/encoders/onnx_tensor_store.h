#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <protozero/pbf_writer.hpp>
#include <string>

namespace protocom::onnx {

/// The most bytes that an ONNX file may have: a protobuf's length is a number of 31 bits.
inline constexpr int64_t kMostBytes = (int64_t{1} << 31) - 1;

/// Tensors of fewer bytes stay in the ONNX file, as the Python package onnx has it: a checker needs shapes.
inline constexpr size_t kFewestOutside = 1024;

/// Where the numbers of an ONNX file's tensors lie: in it, or in one file beside it, ONNX's external data.
class TensorStore {
 public:
  /// In the ONNX file, which may have `most` bytes.
  explicit TensorStore(int64_t most = kMostBytes) : most_(most) {}
  /// Those of kFewestOutside bytes or more in `file`, which will be called `location` beside the ONNX file. Throws
  /// Error if it cannot be made.
  TensorStore(std::filesystem::path file, std::string location);

  /// Adds the fields of a TensorProto that are its numbers. Throws as check_size(), and Error.
  void write(const void* values, size_t bytes, protozero::pbf_writer& tensor);
  /// Throws Error for an ONNX file that would have too many bytes.
  void check_size(int64_t bytes);
  /// Whether check_size() has thrown.
  [[nodiscard]] bool is_exceeded() const { return exceeded_; }
  /// All is written. Throws Error.
  void close();
  /// How the ONNX file calls the one beside it; empty: there is none.
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
