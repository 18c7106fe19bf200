#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/array.h"
#include "encoders/onnxruntime/library.h"
#include "io/files.h"

namespace protocom::onnxruntime {

/// The bytes of an ONNX file with all tensors inside. They stay for as long as a thread may read them.
class ModelBytes {
 public:
  explicit ModelBytes(const std::filesystem::path& path) : file_(std::in_place, path) {}
  explicit ModelBytes(std::string whole) : whole_(std::move(whole)) {}
  [[nodiscard]] std::string_view view() const { return file_ ? file_->bytes() : std::string_view(whole_); }

 private:
  std::optional<MappedFile> file_;
  std::string whole_;
};

/// A network that ONNX Runtime has prepared for a number of threads.
class LoadedModel {
 public:
  /// Throws Error for what ONNX Runtime refuses, and for a network that takes more than a minute of a processor or 3
  /// GiB and five times its own size.
  LoadedModel(const std::shared_ptr<const ModelBytes>& model, int threads);

  /// The values of one output for float32 or float16 images; float32. Throws Error for other outputs and for what
  /// fails or takes more than a minute of a processor for each image. `watch_memory`: and for more memory than may be
  /// taken above; what other threads take counts, so only where the network is tried.
  [[nodiscard]] Array run(const std::string& input, Array images, const std::string& output, bool watch_memory) const;
  [[nodiscard]] int threads() const { return threads_; }

 private:
  std::shared_ptr<Session> session_;
  int threads_;
  int64_t most_memory_;
};

}  // namespace protocom::onnxruntime
