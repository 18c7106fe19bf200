#pragma once
#include <filesystem>

namespace protocom {

/// Whether a file is an ONNX file, by its content. False if it cannot be read; opening it reports why.
bool is_onnx_file(const std::filesystem::path& file);

}  // namespace protocom
